-- name: add_stored_bytes
-- Count what a transaction has written, under the row's lock; says how much the day has now.
INSERT INTO stored_bytes (workspace_id, day, bytes) VALUES (:workspace_id, :day, :bytes)
ON CONFLICT (workspace_id, day) DO UPDATE SET bytes = stored_bytes.bytes + excluded.bytes
RETURNING bytes

-- name: find_stored_bytes
-- What a workspace has stored on a day.
SELECT bytes FROM stored_bytes WHERE workspace_id = :workspace_id AND day = :day

-- name: forget_stored_bytes
-- Days that nobody looks at any more, on the first write of a new one.
DELETE FROM stored_bytes WHERE workspace_id = :workspace_id AND day < :before
