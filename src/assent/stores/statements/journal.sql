-- name: lock_head
-- Makes the stream's head if it is new and locks it until the transaction ends, so that everything read after
-- this belongs to the head it returned. The update that changes nothing is what takes the row lock on PostgreSQL.
INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at)
VALUES (:workspace_id, :stream_id, 0, :genesis, :now_ms)
ON CONFLICT (workspace_id, stream_id) DO UPDATE SET seq = streams.seq
RETURNING seq, hash;

-- name: insert_event
-- Appends one event. Only under the lock of its stream's head.
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash)
VALUES (:workspace_id, :stream_id, :seq, :kind, :at_ms, :body, :hash);

-- name: advance_head
-- Moves the head to the last event appended. The old position is in the condition, so that an append with a head
-- that was not locked in this transaction changes nothing and is noticed.
UPDATE streams SET seq = :seq, hash = :hash, updated_at = :now_ms
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND seq = :previous_seq
RETURNING seq;

-- name: read_head
-- The head of a stream without locking it, for readers.
SELECT seq, hash FROM streams WHERE workspace_id = :workspace_id AND stream_id = :stream_id;

-- name: read_events
-- A page of a stream in order, after a given event.
SELECT seq, kind, at_ms, body, hash FROM events
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND seq > :after_seq
ORDER BY seq LIMIT :limit;
