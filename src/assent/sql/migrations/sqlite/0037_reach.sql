-- Notification targets of a person are stored with the server's workspace; those of a workspace have no person. Each has
-- its choices: causes and risks (as digits of actions.risk), whether it arrives without a sound, when it reminds.
ALTER TABLE notification_targets ADD COLUMN person_id TEXT NOT NULL DEFAULT '';
ALTER TABLE notification_targets ADD COLUMN causes TEXT NOT NULL DEFAULT 'waiting decided problems reminders';
ALTER TABLE notification_targets ADD COLUMN risks TEXT NOT NULL DEFAULT '012';
ALTER TABLE notification_targets ADD COLUMN quiet INTEGER NOT NULL DEFAULT 0;
ALTER TABLE notification_targets ADD COLUMN remind_ms INTEGER NOT NULL DEFAULT 86400000;

-- The last message about a run at a target, so that a decision can replace or follow it.
CREATE TABLE notification_messages (
  workspace_id TEXT NOT NULL,
  target_id    TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  message      TEXT NOT NULL,
  sent_ms      INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, target_id, run_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX notification_messages_by_time ON notification_messages (sent_ms);

-- The reminders that were sent, once per target, action and kind.
CREATE TABLE notification_reminders (
  workspace_id TEXT NOT NULL,
  target_id    TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  kind         TEXT NOT NULL,
  told_ms      INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, action_id, target_id, kind)
) STRICT, WITHOUT ROWID;
