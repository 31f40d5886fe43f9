-- name: insert_webhook_delivery
-- A result to be posted, in the transaction that makes the result.
INSERT INTO webhook_deliveries (workspace_id, delivery_id, run_id, type, url, body, state, tries, resends, next_try_ms,
                                created_ms)
VALUES (:workspace_id, :delivery_id, :run_id, :type, :url, :body, 'waiting', 0, 0, :now_ms, :now_ms)

-- name: find_webhook_delivery
-- One delivery with what is sent.
SELECT delivery_id, run_id, type, url, body, state, tries, resends, next_try_ms, created_ms, ended_ms
FROM webhook_deliveries WHERE workspace_id = :workspace_id AND delivery_id = :delivery_id

-- name: list_webhook_deliveries
-- A workspace's deliveries without their bodies, newest first, before a cursor.
SELECT delivery_id, run_id, type, url, state, tries, resends, next_try_ms, created_ms, ended_ms
FROM webhook_deliveries
WHERE workspace_id = :workspace_id AND (:before = '' OR delivery_id < :before)
ORDER BY delivery_id DESC LIMIT :most

-- name: list_webhook_tries
-- The log of one delivery, oldest first.
SELECT number, at_ms, duration_ms, outcome, status, detail FROM webhook_tries
WHERE workspace_id = :workspace_id AND delivery_id = :delivery_id ORDER BY number

-- name: count_webhook_try
-- What a try came to. A delivery that has ended meanwhile stays as it is.
UPDATE webhook_deliveries
SET state = :state, tries = tries + 1, next_try_ms = :next_try_ms, ended_ms = :ended_ms
WHERE workspace_id = :workspace_id AND delivery_id = :delivery_id AND state = 'waiting'
RETURNING tries

-- name: insert_webhook_try
-- One line of the log.
INSERT INTO webhook_tries (workspace_id, delivery_id, number, at_ms, duration_ms, outcome, status, detail)
VALUES (:workspace_id, :delivery_id, :number, :at_ms, :duration_ms, :outcome, :status, :detail)

-- name: drop_old_webhook_tries
-- The log of a delivery that is sent again and again stays short.
DELETE FROM webhook_tries
WHERE workspace_id = :workspace_id AND delivery_id = :delivery_id AND number <= :up_to

-- name: reopen_webhook_delivery
-- A human wants it sent again; one that is still being tried in time is left alone.
UPDATE webhook_deliveries SET state = 'waiting', resends = resends + 1, next_try_ms = :now_ms, ended_ms = NULL
WHERE workspace_id = :workspace_id AND delivery_id = :delivery_id
  AND (state <> 'waiting' OR next_try_ms <= :overdue_ms)
RETURNING resends

-- name: forget_webhook_tries
-- The log of deliveries past their retention.
DELETE FROM webhook_tries WHERE (workspace_id, delivery_id) IN (
    SELECT workspace_id, delivery_id FROM webhook_deliveries
    WHERE created_ms <= :created_before_ms AND state <> 'waiting' ORDER BY created_ms, delivery_id LIMIT :most
)

-- name: forget_webhook_deliveries
-- A batch of deliveries past their retention, the oldest first. One that is being tried is kept.
DELETE FROM webhook_deliveries WHERE (workspace_id, delivery_id) IN (
    SELECT workspace_id, delivery_id FROM webhook_deliveries
    WHERE created_ms <= :created_before_ms AND state <> 'waiting' ORDER BY created_ms, delivery_id LIMIT :most
)
RETURNING delivery_id
