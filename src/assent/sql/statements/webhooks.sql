-- name: insert_webhook_delivery
-- Insert a delivery in the transaction that makes its result.
INSERT INTO webhook_deliveries (workspace_id, delivery_id, run_id, type, url, body, state, tries, resends, next_try_ms,
                                created_ms)
VALUES (:workspace_id, :delivery_id, :run_id, :type, :url, :body, 'waiting', 0, 0, :now_ms, :now_ms)

-- name: find_webhook_delivery
-- Find a delivery with its body.
SELECT delivery_id, run_id, type, url, body, state, tries, resends, next_try_ms, created_ms, ended_ms
FROM webhook_deliveries WHERE workspace_id = :workspace_id AND delivery_id = :delivery_id

-- name: list_webhook_deliveries
-- List a workspace's deliveries without bodies, newest first, before a cursor.
SELECT delivery_id, run_id, type, url, state, tries, resends, next_try_ms, created_ms, ended_ms
FROM webhook_deliveries
WHERE workspace_id = :workspace_id AND (:before = '' OR delivery_id < :before)
ORDER BY delivery_id DESC LIMIT :most

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
