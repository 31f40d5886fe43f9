-- name: insert_webhook_delivery [counted]
-- Insert a delivery in the transaction that causes it. One that exists changes nothing and returns no row.
INSERT INTO webhook_deliveries (workspace_id, delivery_id, run_id, type, url, body, state, tries, resends, next_try_ms,
                                created_ms, ended_ms, subscription_id, action_id)
VALUES (:workspace_id, :delivery_id, :run_id, :type, :url, :body, :state, 0, 0, :next_try_ms, :now_ms, :ended_ms,
        :subscription_id, :action_id)
ON CONFLICT (workspace_id, delivery_id) DO NOTHING
RETURNING delivery_id

-- name: find_webhook_delivery
-- Find a delivery with its body.
SELECT delivery_id, run_id, type, url, body, state, tries, resends, next_try_ms, created_ms, ended_ms,
  subscription_id, action_id
FROM webhook_deliveries WHERE workspace_id = :workspace_id AND delivery_id = :delivery_id

-- name: list_webhook_deliveries
-- List a workspace's deliveries without bodies, newest first, before a cursor; with a state, those in it.
SELECT delivery_id, run_id, type, url, state, tries, resends, next_try_ms, created_ms, ended_ms,
  subscription_id, action_id
FROM webhook_deliveries
WHERE workspace_id = :workspace_id AND (:before = '' OR delivery_id < :before) AND (:state = '' OR state = :state)
ORDER BY delivery_id DESC LIMIT :most

-- name: list_subscription_deliveries
-- Like list_webhook_deliveries, for one subscription.
SELECT delivery_id, run_id, type, url, state, tries, resends, next_try_ms, created_ms, ended_ms,
  subscription_id, action_id
FROM webhook_deliveries
WHERE workspace_id = :workspace_id AND subscription_id = :subscription_id AND subscription_id <> ''
  AND (:before = '' OR delivery_id < :before) AND (:state = '' OR state = :state)
ORDER BY delivery_id DESC LIMIT :most

-- name: count_queued_deliveries
-- Count what waits for a subscription, at most as much as decides.
SELECT count(*) AS queued FROM (
  SELECT 1 AS one FROM webhook_deliveries
  WHERE workspace_id = :workspace_id AND subscription_id = :subscription_id AND subscription_id <> ''
    AND state = 'waiting'
  LIMIT :most
) AS waiting

-- name: list_webhook_tries
-- List the attempts of a delivery, oldest first.
SELECT number, at_ms, duration_ms, outcome, status, detail FROM webhook_tries
WHERE workspace_id = :workspace_id AND delivery_id = :delivery_id ORDER BY number

-- name: count_webhook_try
-- Store the result of an attempt. A delivery that has ended meanwhile is not changed.
UPDATE webhook_deliveries
SET state = :state, tries = tries + 1, next_try_ms = :next_try_ms, ended_ms = :ended_ms
WHERE workspace_id = :workspace_id AND delivery_id = :delivery_id AND state = 'waiting'
RETURNING tries

-- name: insert_webhook_try
-- Insert an attempt.
INSERT INTO webhook_tries (workspace_id, delivery_id, number, at_ms, duration_ms, outcome, status, detail)
VALUES (:workspace_id, :delivery_id, :number, :at_ms, :duration_ms, :outcome, :status, :detail)

-- name: drop_old_webhook_tries
-- Delete old attempts of a delivery that is sent repeatedly.
DELETE FROM webhook_tries
WHERE workspace_id = :workspace_id AND delivery_id = :delivery_id AND number <= :up_to

-- name: reopen_webhook_delivery
-- Send a delivery again at a person's request, unless it is still being retried.
UPDATE webhook_deliveries SET state = 'waiting', resends = resends + 1, next_try_ms = :now_ms, ended_ms = NULL
WHERE workspace_id = :workspace_id AND delivery_id = :delivery_id
  AND (state <> 'waiting' OR next_try_ms <= :overdue_ms)
RETURNING resends

-- name: forget_webhook_tries
-- Delete attempts past their retention.
DELETE FROM webhook_tries WHERE (workspace_id, delivery_id) IN (
    SELECT workspace_id, delivery_id FROM webhook_deliveries
    WHERE created_ms <= :created_before_ms AND state <> 'waiting' ORDER BY created_ms, delivery_id LIMIT :most
)

-- name: forget_webhook_deliveries
-- Delete a batch of deliveries past their retention, oldest first, except running ones.
DELETE FROM webhook_deliveries WHERE (workspace_id, delivery_id) IN (
    SELECT workspace_id, delivery_id FROM webhook_deliveries
    WHERE created_ms <= :created_before_ms AND state <> 'waiting' ORDER BY created_ms, delivery_id LIMIT :most
)
RETURNING delivery_id

-- name: list_subscriptions
-- List a workspace's subscriptions, oldest first.
SELECT subscription_id, url, events, enabled, created_by, created_ms, delivered_ms, failing_since_ms
FROM webhook_subscriptions WHERE workspace_id = :workspace_id ORDER BY subscription_id

-- name: find_subscription
-- Find one subscription.
SELECT subscription_id, url, events, enabled, created_by, created_ms, delivered_ms, failing_since_ms
FROM webhook_subscriptions WHERE workspace_id = :workspace_id AND subscription_id = :subscription_id

-- name: insert_subscription
-- Insert a subscription, which is on.
INSERT INTO webhook_subscriptions (workspace_id, subscription_id, url, events, enabled, created_by, created_ms)
VALUES (:workspace_id, :subscription_id, :url, :events, 1, :created_by, :now_ms)

-- name: change_subscription
-- Change which events are posted and whether any is. What failed before a stop does not count after it.
UPDATE webhook_subscriptions SET events = :events, enabled = :enabled,
  failing_since_ms = CASE WHEN :enabled = enabled THEN failing_since_ms END
WHERE workspace_id = :workspace_id AND subscription_id = :subscription_id
RETURNING url

-- name: delete_subscription
-- Delete a subscription. Its log stays as long as other deliveries.
DELETE FROM webhook_subscriptions WHERE workspace_id = :workspace_id AND subscription_id = :subscription_id
RETURNING url

-- name: note_subscription_delivery
-- Note that the address of a subscription accepted a delivery.
UPDATE webhook_subscriptions SET delivered_ms = :now_ms, failing_since_ms = NULL
WHERE workspace_id = :workspace_id AND subscription_id = :subscription_id

-- name: note_subscription_failure
-- Note that a try failed; the first one since the last delivery counts.
UPDATE webhook_subscriptions SET failing_since_ms = :now_ms
WHERE workspace_id = :workspace_id AND subscription_id = :subscription_id AND failing_since_ms IS NULL
