-- The words by which people find runs and actions.

-- name: put_search_texts [sqlite]
-- Store the words of some items, or replace them; rows are a list of item, run, about, body. An empty `about` changes
-- only those of the content.
INSERT INTO search_texts (workspace_id, item_id, run_id, about, body)
SELECT :workspace_id, json_extract(r.value, '$[0]'), json_extract(r.value, '$[1]'), json_extract(r.value, '$[2]'),
       json_extract(r.value, '$[3]')
FROM json_each(:rows) r WHERE true
ON CONFLICT (workspace_id, item_id) DO UPDATE
SET about = coalesce(nullif(excluded.about, ''), search_texts.about), body = excluded.body

-- name: put_search_texts [postgres]
-- As on SQLite.
INSERT INTO search_texts (workspace_id, item_id, run_id, about, body)
SELECT :workspace_id, r.value ->> 0, r.value ->> 1, r.value ->> 2, r.value ->> 3
FROM json_array_elements(CAST(:rows AS JSON)) AS r (value)
ON CONFLICT (workspace_id, item_id) DO UPDATE
SET about = coalesce(nullif(excluded.about, ''), search_texts.about), body = excluded.body

-- name: queue_for_search
-- Leave the words of a run and its actions to the next search.
INSERT INTO search_queue (workspace_id, run_id) VALUES (:workspace_id, :run_id)

-- name: list_queued_workspaces
-- List the workspaces with runs that are not indexed yet.
SELECT DISTINCT workspace_id FROM search_queue ORDER BY workspace_id

-- name: take_from_search_queue
-- Take the oldest runs out, to index them in this transaction.
DELETE FROM search_queue WHERE workspace_id = :workspace_id AND run_id IN (
  SELECT q.run_id FROM search_queue q WHERE q.workspace_id = :workspace_id ORDER BY q.run_id LIMIT :most
) RETURNING run_id

-- name: lock_search_texts [postgres, skipped on sqlite]
-- One writer of a workspace's words at a time: none may store what it read before another changed the content.
SELECT pg_advisory_xact_lock(hashtext('assent search texts'), hashtext(:workspace_id)) IS NOT NULL AS held

-- name: find_search_texts [sqlite]
-- Find the newest items of some workspaces that have all words, or longer ones. The words have spaces between them.
SELECT s.item_id, s.run_id FROM search_words w JOIN search_texts s ON s.number = w.rowid
WHERE search_words MATCH '"' || replace(:words, ' ', '"* "') || '"*'
  AND s.workspace_id IN (SELECT p.key FROM json_each(:places) p)
ORDER BY w.rowid DESC LIMIT :most

-- name: find_search_texts [postgres]
-- As on SQLite. Ids sort by time.
SELECT s.item_id, s.run_id FROM search_texts s
WHERE s.words @@ to_tsquery('simple', replace(:words, ' ', ':* & ') || ':*')
  AND s.workspace_id IN (SELECT p.key FROM json_each(CAST(:places AS JSON)) AS p)
ORDER BY s.item_id DESC LIMIT :most

-- name: forget_run_texts
-- Delete the words of a run whose inputs were erased, and of its actions.
DELETE FROM search_texts WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: merge_search_words [sqlite, skipped on postgres]
-- Drop the words of erased texts from the index, which otherwise keeps them until it merges its parts.
INSERT INTO search_words (search_words) VALUES ('optimize')
