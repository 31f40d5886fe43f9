-- How a workspace looks on its public pages.
CREATE TABLE workspace_brands (
  workspace_id TEXT PRIMARY KEY,
  accent       TEXT NOT NULL,
  logo_digest  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Logos: the one in use, and one that waits for its confirmation. Each was read and written again before it came here.
CREATE TABLE brand_logos (
  workspace_id TEXT NOT NULL,
  logo_digest  TEXT NOT NULL,
  media_type   TEXT NOT NULL,
  content      BLOB NOT NULL,
  PRIMARY KEY (workspace_id, logo_digest)
) STRICT, WITHOUT ROWID;

-- When each caller of a workspace was last here, within a few minutes.
CREATE TABLE callers_seen (
  workspace_id TEXT NOT NULL,
  caller       TEXT NOT NULL,
  seen_ms      INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, caller)
) STRICT, WITHOUT ROWID;
