-- Pictures by what they are: the same bytes are kept once in a workspace.

CREATE TABLE pictures (
  workspace_id TEXT NOT NULL,
  digest       TEXT NOT NULL,
  content_type TEXT NOT NULL,
  width        INTEGER NOT NULL,
  height       INTEGER NOT NULL,
  size         INTEGER NOT NULL,
  content      BLOB NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, digest)
) STRICT;

CREATE INDEX pictures_by_age ON pictures (created_ms);

-- Where a picture may be seen: a run made it, or an action of the run takes it along.
CREATE TABLE picture_uses (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  digest       TEXT NOT NULL,
  kept         INTEGER NOT NULL CHECK (kept IN (0, 1)),
  PRIMARY KEY (workspace_id, run_id, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX picture_uses_by_picture ON picture_uses (workspace_id, digest, kept);
