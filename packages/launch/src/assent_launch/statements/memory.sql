-- name: insert_brain_entry [counted]
-- Insert a memory, once per natural key.
INSERT INTO launch_brain_entries (workspace_id, entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id,
                           facts, natural_key, created_ms)
VALUES (:workspace_id, :entry_id, :tenant_id, :kind, :body, :state, :source, :channel, :run_id, :action_id,
        :facts, :natural_key, :created_ms)
ON CONFLICT (workspace_id, natural_key) DO NOTHING
RETURNING entry_id

-- name: index_brain_words [sqlite, skipped on postgres]
-- Index the words of memories that were added since the last time. FTS5 stores the size of every indexed text by its
-- number, so the index itself knows how far it is.
INSERT INTO launch_brain_words (rowid, body)
SELECT number, body FROM launch_brain_entries
WHERE number > coalesce((SELECT max(id) FROM launch_brain_words_docsize), 0)

-- name: list_brain_entries
-- List a tenant's memories of one kind, newest first. One kind, so that the index has this order.
SELECT entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, created_ms
FROM launch_brain_entries
WHERE workspace_id = :workspace_id AND tenant_id = :tenant_id AND kind = :kind AND state <> 'retired'
ORDER BY entry_id DESC LIMIT :most

-- name: list_usable_entries [sqlite]
-- List a tenant's newest memories of each of these kinds, without claims that were only logged. The newest are found by
-- the index, kind by kind, before claims are left out.
SELECT e.entry_id, e.tenant_id, e.kind, e.body, e.state, e.source, e.channel, e.run_id, e.action_id, e.facts,
       e.created_ms
FROM json_each(:kinds) k
CROSS JOIN launch_brain_entries e
WHERE e.number IN (
    SELECT n.number FROM launch_brain_entries n
    WHERE n.workspace_id = :workspace_id AND n.tenant_id = :tenant_id AND n.kind = k.value AND n.state <> 'retired'
    ORDER BY n.entry_id DESC LIMIT :most)
  AND (e.kind <> 'claim_risk' OR e.state = 'confirmed')

-- name: list_usable_entries [postgres]
-- As on SQLite.
SELECT e.entry_id, e.tenant_id, e.kind, e.body, e.state, e.source, e.channel, e.run_id, e.action_id, e.facts,
       e.created_ms
FROM json_array_elements_text(CAST(:kinds AS JSON)) AS k (kind)
CROSS JOIN LATERAL (
    SELECT n.* FROM launch_brain_entries n
    WHERE n.workspace_id = :workspace_id AND n.tenant_id = :tenant_id AND n.kind = k.kind AND n.state <> 'retired'
    ORDER BY n.entry_id DESC LIMIT :most) e
WHERE e.kind <> 'claim_risk' OR e.state = 'confirmed'

-- name: search_brain_entries [sqlite]
-- List a tenant's memories with these words, best match first.
SELECT e.entry_id, e.tenant_id, e.kind, e.body, e.state, e.source, e.channel, e.run_id, e.action_id, e.facts,
       e.created_ms
FROM launch_brain_words w JOIN launch_brain_entries e ON e.number = w.rowid
WHERE launch_brain_words MATCH :query AND e.workspace_id = :workspace_id AND e.tenant_id = :tenant_id
  AND e.state <> 'retired' AND (:kind = '' OR e.kind = :kind)
ORDER BY bm25(launch_brain_words), e.entry_id DESC LIMIT :most

-- name: search_brain_entries [postgres]
-- List a tenant's memories with these words, best match first.
SELECT entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, created_ms
FROM launch_brain_entries
WHERE words @@ websearch_to_tsquery('simple', :query) AND workspace_id = :workspace_id AND tenant_id = :tenant_id
  AND state <> 'retired' AND (:kind = '' OR kind = :kind)
ORDER BY ts_rank(words, websearch_to_tsquery('simple', :query)) DESC, entry_id DESC LIMIT :most

-- name: set_brain_state
-- Confirm or retire a memory.
UPDATE launch_brain_entries SET state = :state
WHERE workspace_id = :workspace_id AND tenant_id = :tenant_id AND entry_id = :entry_id
RETURNING entry_id

-- name: set_brain_state_by_key
-- Retire the memory of a withdrawn decision, or make it active again.
UPDATE launch_brain_entries SET state = :state
WHERE workspace_id = :workspace_id AND natural_key = :natural_key
RETURNING entry_id

-- name: erase_decision_memories
-- Empty the memories of decisions about an action whose content was erased: they quote it.
UPDATE launch_brain_entries SET body = :notice, facts = '{}', state = 'retired'
WHERE workspace_id = :workspace_id AND action_id = :action_id AND kind IN ('approval', 'rejection', 'edit')

-- name: index_brain_words_again [sqlite, skipped on postgres]
-- Build the index of words again, because texts changed in place.
INSERT INTO launch_brain_words (launch_brain_words) VALUES ('rebuild')

-- name: forget_memory_words [sqlite, skipped on postgres]
-- Take the words of one memory out of the index, if they are in it.
INSERT INTO launch_brain_words (launch_brain_words, rowid, body)
SELECT 'delete', number, body FROM launch_brain_entries WHERE workspace_id = :workspace_id AND entry_id = :entry_id
  AND number IN (SELECT id FROM launch_brain_words_docsize)

-- name: empty_memory
-- Delete what a memory says. Its row stays, because the index goes by its number and runs refer to its id.
UPDATE launch_brain_entries SET body = '', facts = '{}', source = '', natural_key = NULL, state = 'retired'
WHERE workspace_id = :workspace_id AND entry_id = :entry_id
RETURNING entry_id

-- name: add_memory_use
-- Record that a memory changed a draft.
INSERT INTO launch_memory_uses (workspace_id, entry_id, asset_id, run_id)
VALUES (:workspace_id, :entry_id, :asset_id, :run_id)
ON CONFLICT DO NOTHING

-- name: list_memory_uses
-- List the latest drafts that a memory changed.
SELECT asset_id, run_id FROM launch_memory_uses WHERE workspace_id = :workspace_id AND entry_id = :entry_id
ORDER BY asset_id DESC LIMIT :most

-- name: list_memory_page
-- List a page of a workspace's memories of one kind, newest first, before a cursor; empty filters match all.
SELECT entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, created_ms
FROM launch_brain_entries
WHERE workspace_id = :workspace_id AND kind = :kind AND body <> '' AND (:before = '' OR entry_id < :before)
  AND (:tenant_id = '' OR tenant_id = :tenant_id) AND (:state = '' OR state = :state)
  AND (:pattern = '' OR lower(body) LIKE lower(:pattern) ESCAPE '!' OR lower(source) LIKE lower(:pattern) ESCAPE '!')
ORDER BY entry_id DESC LIMIT :most

-- name: list_brain_lessons
-- List the lessons of all tenants, newest first.
SELECT entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, created_ms
FROM launch_brain_entries
WHERE workspace_id = :workspace_id AND kind IN ('channel_performance', 'rejection', 'lesson') AND state <> 'retired'
ORDER BY entry_id DESC LIMIT :most

-- name: list_brain_rules
-- List the confirmed memories that may be rules of a tenant, or of all, newest first.
SELECT entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, created_ms
FROM launch_brain_entries
WHERE workspace_id = :workspace_id AND kind IN ('brand_voice', 'lesson', 'claim_risk') AND state = 'confirmed'
  AND (:tenant_id = '' OR tenant_id = :tenant_id)
ORDER BY entry_id DESC LIMIT :most

-- name: find_brain_entry
-- One memory of a workspace.
SELECT entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, created_ms
FROM launch_brain_entries WHERE workspace_id = :workspace_id AND entry_id = :entry_id

-- name: find_results
-- Find out whether a workspace has remembered or measured anything. The order is that of an index, so that one row is read.
SELECT 1 AS found FROM (
  SELECT entry_id FROM launch_brain_entries WHERE workspace_id = :workspace_id ORDER BY entry_id LIMIT 1
) AS remembered
UNION ALL
SELECT 1 AS found FROM (
  SELECT measured_ms FROM launch_measurements
  WHERE workspace_id = :workspace_id AND measured_ms IS NOT NULL ORDER BY measured_ms LIMIT 1
) AS measured
LIMIT 1
