-- Signed checkpoints over the heads of all streams, so that a rewritten journal is found out.

CREATE TABLE checkpoints (
  workspace_id TEXT NOT NULL,
  number       BIGINT NOT NULL,
  at_ms        BIGINT NOT NULL,
  body         TEXT NOT NULL,
  signature    TEXT NOT NULL,
  public_key   TEXT NOT NULL,
  PRIMARY KEY (workspace_id, number)
);

CREATE INDEX streams_by_update ON streams (updated_at);
