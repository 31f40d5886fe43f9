-- name: last_checkpoint
-- The newest checkpoint.
SELECT number, at_ms, body, signature, public_key FROM checkpoints
WHERE workspace_id = :workspace_id ORDER BY number DESC LIMIT 1

-- name: list_checkpoints
-- Checkpoints in order, after a number.
SELECT number, at_ms, body, signature, public_key FROM checkpoints
WHERE workspace_id = :workspace_id AND number > :after ORDER BY number LIMIT :most

-- name: insert_checkpoint
-- A checkpoint, unless another process has just written this number.
INSERT INTO checkpoints (workspace_id, number, at_ms, body, signature, public_key)
VALUES (:workspace_id, :number, :at_ms, :body, :signature, :public_key)
ON CONFLICT (workspace_id, number) DO NOTHING
RETURNING number

-- name: heads_changed_since
-- Heads of streams that grew since a moment, in a fixed order.
SELECT workspace_id, stream_id, seq, hash FROM streams
WHERE updated_at >= :since_ms AND seq > 0 ORDER BY workspace_id, stream_id

-- name: list_heads
-- Heads of all streams in a fixed order, after a place.
SELECT workspace_id, stream_id, seq, hash FROM streams
WHERE (workspace_id, stream_id) > (:after_workspace, :after_stream)
ORDER BY workspace_id, stream_id LIMIT :most

-- name: list_headless_streams
-- Streams that have events and no head: somebody removed it.
SELECT DISTINCT e.workspace_id, e.stream_id FROM events e
LEFT JOIN streams s ON s.workspace_id = e.workspace_id AND s.stream_id = e.stream_id
WHERE s.stream_id IS NULL LIMIT :most

-- name: list_unlogged_actions
-- Actions of runs that have no stream, of one workspace or of all: somebody put them there.
SELECT a.workspace_id, a.run_id, a.action_id FROM actions a
LEFT JOIN streams s ON s.workspace_id = a.workspace_id AND s.stream_id = a.run_id
WHERE s.stream_id IS NULL AND (:workspace_id = '' OR a.workspace_id = :workspace_id) LIMIT :most

-- name: find_event_hash
-- The chain hash of one event.
SELECT hash FROM events WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND seq = :seq
