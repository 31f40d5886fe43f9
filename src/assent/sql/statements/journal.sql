-- name: lock_head [sqlite]
-- Where a stream ends. The one writer is the lock: everything read after this belongs to the head it returned.
SELECT seq, hash, updated_at FROM streams WHERE workspace_id = :workspace_id AND stream_id = :stream_id;

-- name: lock_head [postgres]
-- Where a stream ends, and its lock until the transaction ends, so that everything read after this belongs to the head
-- it returned.
SELECT seq, hash, updated_at FROM streams WHERE workspace_id = :workspace_id AND stream_id = :stream_id
FOR UPDATE;

-- name: lock_seen_head [postgres, skipped on sqlite]
-- The same for a stream whose head this transaction has read before: what the one writer has read is still so.
SELECT seq, hash, updated_at FROM streams WHERE workspace_id = :workspace_id AND stream_id = :stream_id
FOR UPDATE;

-- name: make_head [postgres, skipped on sqlite]
-- Makes the head of a stream that nobody has seen yet, and locks it. Whoever made it meanwhile is waited for: the update
-- that changes nothing is what takes the row lock.
INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at)
VALUES (:workspace_id, :stream_id, 0, :genesis, :now_ms)
ON CONFLICT (workspace_id, stream_id) DO UPDATE SET seq = streams.seq
RETURNING seq, hash, updated_at;

-- name: insert_event
-- Appends one event of several, all but the last. Only under the lock of its stream's head.
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash)
VALUES (:workspace_id, :stream_id, :seq, :kind, :now_ms, :body, :hash);

-- name: begin_stream [sqlite, counted]
-- Makes the head of a new stream at its first event, which follows; no row is counted where others have appended. The
-- last conditions are always true: they are there because both variants take the same parameters.
INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at)
VALUES (:workspace_id, :stream_id, :seq, :hash, :dated_ms)
ON CONFLICT (workspace_id, stream_id) DO UPDATE SET seq = :seq, hash = :hash, updated_at = :dated_ms
WHERE streams.hash = :previous_hash AND :kind IS NOT NULL AND :now_ms IS NOT NULL AND :body IS NOT NULL;

-- name: begin_stream [postgres]
-- Makes the head of a new stream and appends the event in one round trip; no row comes back where others have appended.
WITH made AS (
    INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at)
    VALUES (:workspace_id, :stream_id, :seq, :hash, :dated_ms)
    ON CONFLICT (workspace_id, stream_id) DO UPDATE SET seq = :seq, hash = :hash, updated_at = :dated_ms
    WHERE streams.hash = :previous_hash
    RETURNING workspace_id, stream_id, seq, hash
)
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash)
SELECT workspace_id, stream_id, seq, :kind, :now_ms, :body, hash FROM made
RETURNING seq;

-- name: append_event [sqlite, counted]
-- Moves the head to the event, which follows. The old hash is in the condition, so that a head which was not locked in
-- this transaction stays where it is, and no row is counted. The last conditions are always true, as above.
UPDATE streams SET seq = :seq, hash = :hash
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND hash = :previous_hash
  AND :kind IS NOT NULL AND :now_ms IS NOT NULL AND :body IS NOT NULL AND :dated_ms IS NOT NULL;

-- name: append_event [postgres]
-- Moves the head and appends the event in one round trip; no row comes back where the head did not move, because it
-- was not locked in this transaction. A date that stays as it was costs no place in an index.
WITH moved AS (
    UPDATE streams SET seq = :seq, hash = :hash, updated_at = :dated_ms
    WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND hash = :previous_hash
    RETURNING workspace_id, stream_id, seq, hash
)
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash)
SELECT workspace_id, stream_id, seq, :kind, :now_ms, :body, hash FROM moved
RETURNING seq;

-- name: write_event [sqlite, skipped on postgres]
-- The event that the head was just moved to.
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash)
VALUES (:workspace_id, :stream_id, :seq, :kind, :now_ms, :body, :hash);

-- name: date_head [sqlite, skipped on postgres]
-- Says anew when a stream grew. Apart from moving its head, because it costs a place in an index.
UPDATE streams SET updated_at = :dated_ms WHERE workspace_id = :workspace_id AND stream_id = :stream_id;

-- name: read_head
-- The head of a stream without locking it, for readers.
SELECT seq, hash, updated_at FROM streams WHERE workspace_id = :workspace_id AND stream_id = :stream_id;

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
