-- How much a workspace has stored on a day (UTC, counted from the epoch).
CREATE TABLE stored_bytes (
  workspace_id TEXT NOT NULL,
  day          BIGINT NOT NULL,
  bytes        BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, day)
);
