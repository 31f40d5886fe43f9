-- name: lock_head [sqlite]
-- Read the head of a stream. The single writer is the lock: everything read after this matches the head.
SELECT seq, hash, updated_at FROM streams WHERE workspace_id = :workspace_id AND stream_id = :stream_id;

-- name: lock_head [postgres]
-- Read the head of a stream and lock it until the transaction ends, so that everything read after this matches it.
SELECT seq, hash, updated_at FROM streams WHERE workspace_id = :workspace_id AND stream_id = :stream_id
FOR UPDATE;

-- name: lock_seen_head [postgres, skipped on sqlite]
-- Lock a head that this transaction has read before. On SQLite the single writer needs no lock.
SELECT seq, hash, updated_at FROM streams WHERE workspace_id = :workspace_id AND stream_id = :stream_id
FOR UPDATE;

-- name: make_head [postgres, skipped on sqlite]
-- Insert the head of a new stream and lock it. If another transaction inserts it, wait for that one: the update without
-- effect takes the row lock.
INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at)
VALUES (:workspace_id, :stream_id, 0, :genesis, :now_ms)
ON CONFLICT (workspace_id, stream_id) DO UPDATE SET seq = streams.seq
RETURNING seq, hash, updated_at;

-- name: find_last_event_time
-- The latest time of an event of a workspace.
SELECT at_ms FROM events WHERE workspace_id = :workspace_id ORDER BY at_ms DESC LIMIT 1

-- name: begin_stream [counted]
-- Insert the head of a new stream at its first events, which follow; no row is returned if the stream exists.
INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at)
VALUES (:workspace_id, :stream_id, :seq, :hash, :dated_ms)
ON CONFLICT (workspace_id, stream_id) DO UPDATE SET seq = :seq, hash = :hash, updated_at = :dated_ms
WHERE streams.hash = :previous_hash
RETURNING seq;

-- name: append_event [sqlite, counted]
-- Move the head to the last of the events, which follow. The condition has the old hash, so a head that was not locked in
-- this transaction is not moved, and no row is counted. The last condition is always true: both variants need the same
-- parameters.
UPDATE streams SET seq = :seq, hash = :hash
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND hash = :previous_hash AND :dated_ms IS NOT NULL;

-- name: append_event [postgres]
-- As on SQLite, with the date: an unchanged one needs no index update. A statement of its own: on shards, one that also
-- inserts the event would be committed in two phases.
UPDATE streams SET seq = :seq, hash = :hash, updated_at = :dated_ms
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND hash = :previous_hash
RETURNING seq;

-- name: write_event
-- Insert an event that the head was just moved beyond or to.
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash)
VALUES (:workspace_id, :stream_id, :seq, :kind, :now_ms, :body, :hash);

-- name: date_head [sqlite, skipped on postgres]
-- Set when a stream grew. Separate from moving the head, because it updates an index.
UPDATE streams SET updated_at = :dated_ms WHERE workspace_id = :workspace_id AND stream_id = :stream_id;

-- name: read_head
-- Read the head of a stream without a lock.
SELECT seq, hash, updated_at FROM streams WHERE workspace_id = :workspace_id AND stream_id = :stream_id;

-- name: read_events
-- A page of a stream in order, after a given event.
SELECT seq, kind, at_ms, body, hash FROM events
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND seq > :after_seq
ORDER BY seq LIMIT :limit;

-- name: journal_position [sqlite]
-- Read a value that changes with every append, for polling. It is the end of a b-tree, so it is cheap. The condition is
-- always true.
SELECT CAST(coalesce(max(rowid), 0) AS TEXT) AS position FROM events WHERE :server IS NOT NULL;

-- name: journal_position [postgres]
-- Read a value that changes soon after appends: `bump_position` sets it.
SELECT coalesce(max(value), '0') AS position FROM deployment_facts
WHERE workspace_id = :server AND name = 'journal position';

-- name: list_events_of_kind
-- List the events of one kind in a stream, oldest first.
SELECT body FROM events
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND kind = :kind ORDER BY seq

-- name: replace_event_body
-- Replace the body of an event whose data was erased; its hash stays.
UPDATE events SET body = :body WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND seq = :seq

-- name: list_stream_since
-- List the events of a stream since a time.
SELECT kind, body FROM events
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND at_ms >= :since_ms ORDER BY seq
