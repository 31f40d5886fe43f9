-- name: add_stored_bytes
-- Add the bytes of a transaction under the row's lock; returns the total of the day.
INSERT INTO stored_bytes (workspace_id, day, bytes) VALUES (:workspace_id, :day, :bytes)
ON CONFLICT (workspace_id, day) DO UPDATE SET bytes = stored_bytes.bytes + excluded.bytes
RETURNING bytes

-- name: find_stored_bytes
-- Find the bytes that a workspace stored on a day.
SELECT bytes FROM stored_bytes WHERE workspace_id = :workspace_id AND day = :day

-- name: forget_stored_bytes
-- Delete earlier days, on the first write of a new one.
DELETE FROM stored_bytes WHERE workspace_id = :workspace_id AND day < :before
