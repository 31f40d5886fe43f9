-- name: lock_head
-- Makes the stream's head if it is new and locks it until the transaction ends, so that everything read after
-- this belongs to the head it returned. The update that changes nothing is what takes the row lock on PostgreSQL.
INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at)
VALUES (:workspace_id, :stream_id, 0, :genesis, :now_ms)
ON CONFLICT (workspace_id, stream_id) DO UPDATE SET seq = streams.seq
RETURNING seq, hash;

-- name: insert_event
-- Appends one event of several, all but the last. Only under the lock of its stream's head.
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash)
VALUES (:workspace_id, :stream_id, :seq, :kind, :now_ms, :body, :hash);

-- name: advance_head [sqlite, skipped on postgres]
-- Moves the head to the event that is appended next. The old hash is in the condition, so that a head which was not
-- locked in this transaction stays where it is.
UPDATE streams SET seq = :seq, hash = :hash, updated_at = :now_ms
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND hash = :previous_hash;

-- name: append_event [sqlite]
-- Appends the event that the head was just moved to; no row comes back where the head did not move. The last
-- condition is always true: it is there because both variants take the same parameters.
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash)
SELECT :workspace_id, :stream_id, :seq, :kind, :now_ms, :body, :hash
FROM streams
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND hash = :hash AND :previous_hash <> :hash
RETURNING seq;

-- name: append_event [postgres]
-- Moves the head and appends the event in one round trip; no row comes back where the head did not move, because it
-- was not locked in this transaction.
WITH moved AS (
    UPDATE streams SET seq = :seq, hash = :hash, updated_at = :now_ms
    WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND hash = :previous_hash
    RETURNING workspace_id, stream_id, seq, hash
)
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash)
SELECT workspace_id, stream_id, seq, :kind, :now_ms, :body, hash FROM moved
RETURNING seq;

-- name: read_head
-- The head of a stream without locking it, for readers.
SELECT seq, hash FROM streams WHERE workspace_id = :workspace_id AND stream_id = :stream_id;

-- name: read_events
-- A page of a stream in order, after a given event.
SELECT seq, kind, at_ms, body, hash FROM events
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND seq > :after_seq
ORDER BY seq LIMIT :limit;

-- name: journal_position [sqlite]
-- A value that differs after anything was appended, for whoever looks again and again. The end of a b-tree.
SELECT CAST(coalesce(max(rowid), 0) AS TEXT) AS position FROM events;

-- name: journal_position [postgres]
-- The same: where the log of the database ends, which moves with every commit and never misses one.
SELECT pg_current_wal_insert_lsn()::text AS position;
