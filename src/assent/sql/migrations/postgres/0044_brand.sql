-- How a workspace looks on its public pages.
CREATE TABLE workspace_brands (
  workspace_id TEXT PRIMARY KEY,
  accent       TEXT NOT NULL,
  logo_digest  TEXT NOT NULL
);

-- Logos: the one in use, and one that waits for its confirmation. Each was read and written again before it came here.
CREATE TABLE brand_logos (
  workspace_id TEXT NOT NULL,
  logo_digest  TEXT NOT NULL,
  media_type   TEXT NOT NULL,
  content      BYTEA NOT NULL,
  PRIMARY KEY (workspace_id, logo_digest)
);

-- When each caller of a workspace was last here, within a few minutes.
CREATE TABLE callers_seen (
  workspace_id TEXT NOT NULL,
  caller       TEXT NOT NULL,
  seen_ms      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, caller)
);
