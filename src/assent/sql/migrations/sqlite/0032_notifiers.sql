-- Notifiers are registered, so the kind of a target is the id of any of them.
CREATE TABLE notification_targets_new (
  workspace_id TEXT NOT NULL,
  target_id    TEXT NOT NULL,
  kind         TEXT NOT NULL,
  shown        TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  told_ms      INTEGER,
  problem      TEXT,
  PRIMARY KEY (workspace_id, target_id)
) STRICT, WITHOUT ROWID;

INSERT INTO notification_targets_new
SELECT workspace_id, target_id, kind, shown, created_ms, told_ms, problem FROM notification_targets;

DROP TABLE notification_targets;

ALTER TABLE notification_targets_new RENAME TO notification_targets;
