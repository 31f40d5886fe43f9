-- name: insert_entry
-- Insert an entry, once per approved action.
INSERT INTO guestbook_entries (workspace_id, entry_id, guest, words, signed_ms)
VALUES (:workspace_id, :entry_id, :guest, :words, :signed_ms)
ON CONFLICT (workspace_id, entry_id) DO NOTHING

-- name: list_entries
-- List the newest entries of one workspace, or of all ('').
SELECT workspace_id, guest, words, signed_ms FROM guestbook_entries
WHERE :workspace_id = '' OR workspace_id = :workspace_id
ORDER BY signed_ms DESC, entry_id LIMIT :most
