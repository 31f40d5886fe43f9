-- Addresses that a workspace subscribed to events of its actions. `events` are their names with spaces between them.
-- `failing_since_ms` is the first failed try since the last delivery.
CREATE TABLE webhook_subscriptions (
  workspace_id     TEXT NOT NULL,
  subscription_id  TEXT NOT NULL,
  url              TEXT NOT NULL,
  events           TEXT NOT NULL,
  enabled          INTEGER NOT NULL,
  created_by       TEXT NOT NULL,
  created_ms       INTEGER NOT NULL,
  delivered_ms     INTEGER,
  failing_since_ms INTEGER,
  PRIMARY KEY (workspace_id, subscription_id)
) STRICT, WITHOUT ROWID;

-- A delivery of an event names its subscription and action; that of a test has no action, that of a result neither.
ALTER TABLE webhook_deliveries ADD COLUMN subscription_id TEXT NOT NULL DEFAULT '';
ALTER TABLE webhook_deliveries ADD COLUMN action_id TEXT NOT NULL DEFAULT '';

-- The log of a subscription, and its queue.
CREATE INDEX webhook_deliveries_by_subscription ON webhook_deliveries (workspace_id, subscription_id, delivery_id)
WHERE subscription_id <> '';
CREATE INDEX webhook_deliveries_queued ON webhook_deliveries (workspace_id, subscription_id)
WHERE state = 'waiting' AND subscription_id <> '';
