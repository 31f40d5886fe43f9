-- Who gets mail by what waits, is approved or was sent within a day: people are counted over all actions of a workspace, not
-- only within one. Rows that are older go as new ones come, so that the table does not grow with history.

CREATE TABLE action_recipients (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  address      TEXT NOT NULL,
  at_ms        INTEGER NOT NULL,
  expires_ms   INTEGER,
  PRIMARY KEY (workspace_id, action_id, address)
) STRICT, WITHOUT ROWID;

CREATE INDEX action_recipients_by_time ON action_recipients (workspace_id, at_ms, address);
