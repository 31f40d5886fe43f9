-- name: claim_key
-- Claim the key, or wait for the transaction that holds it and return its record. An expired record is replaced.
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
-- Store the answer with its effect. A stored answer and its owner never change.
INSERT INTO idempotency (workspace_id, tool, key, request_digest, response, created_at, expires_at, holder)
VALUES (:workspace_id, :tool, :key, :request_digest, :response, :now_ms, :expires_at, :holder)
ON CONFLICT (workspace_id, tool, key) DO UPDATE SET
    request_digest = excluded.request_digest, response = excluded.response, expires_at = excluded.expires_at
WHERE idempotency.response IS NULL
RETURNING expires_at;

-- name: forget_answers
-- Delete a batch of expired records, oldest first. The outer condition is repeated, because a key may be claimed while
-- this waits for its row.
DELETE FROM idempotency
WHERE expires_at <= :now_ms AND (workspace_id, tool, key) IN (
    SELECT workspace_id, tool, key FROM idempotency
    WHERE expires_at <= :now_ms ORDER BY expires_at LIMIT :limit
)
RETURNING key;
