-- name: claim_key
-- Takes the key, or waits for the transaction that holds it and shows what it left. A record past its time is
-- taken over as if it had never been.
INSERT INTO idempotency (workspace_id, tool, key, request_digest, response, created_at, expires_at, holder)
VALUES (:workspace_id, :tool, :key, :request_digest, NULL, :now_ms, :expires_at, :holder)
ON CONFLICT (workspace_id, tool, key) DO UPDATE SET
    request_digest = CASE WHEN idempotency.expires_at <= excluded.created_at
        THEN excluded.request_digest ELSE idempotency.request_digest END,
    response = CASE WHEN idempotency.expires_at <= excluded.created_at
        THEN NULL ELSE idempotency.response END,
    created_at = CASE WHEN idempotency.expires_at <= excluded.created_at
        THEN excluded.created_at ELSE idempotency.created_at END,
    holder = CASE WHEN idempotency.expires_at <= excluded.created_at
        THEN excluded.holder ELSE idempotency.holder END,
    expires_at = CASE WHEN idempotency.expires_at <= excluded.created_at
        THEN excluded.expires_at ELSE idempotency.expires_at END
RETURNING request_digest, response, holder, created_at;

-- name: keep_answer
-- Stores the answer with the effect it belongs to. An answer once stored never changes, nor does whose it is.
INSERT INTO idempotency (workspace_id, tool, key, request_digest, response, created_at, expires_at, holder)
VALUES (:workspace_id, :tool, :key, :request_digest, :response, :now_ms, :expires_at, :holder)
ON CONFLICT (workspace_id, tool, key) DO UPDATE SET
    request_digest = excluded.request_digest, response = excluded.response, expires_at = excluded.expires_at
WHERE idempotency.response IS NULL
RETURNING expires_at;

-- name: forget_answers
-- Removes a batch of records past their time, oldest first. The outer condition is repeated because a key may be
-- taken over while this waits for its row.
DELETE FROM idempotency
WHERE expires_at <= :now_ms AND (workspace_id, tool, key) IN (
    SELECT workspace_id, tool, key FROM idempotency
    WHERE expires_at <= :now_ms ORDER BY expires_at LIMIT :limit
)
RETURNING key;
