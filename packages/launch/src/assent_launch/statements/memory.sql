-- name: insert_brain_entry [counted]
-- Insert a memory, once per natural key.
INSERT INTO brain_entries (workspace_id, entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id,
                           facts, natural_key, created_ms)
VALUES (:workspace_id, :entry_id, :tenant_id, :kind, :body, :state, :source, :channel, :run_id, :action_id,
        :facts, :natural_key, :created_ms)
ON CONFLICT (workspace_id, natural_key) DO NOTHING
RETURNING entry_id

-- name: index_brain_words [sqlite, skipped on postgres]
-- Index the words of memories that were added since the last time. FTS5 stores the size of every indexed text by its
-- number, so the index itself knows how far it is.
INSERT INTO brain_words (rowid, body)
SELECT number, body FROM brain_entries
WHERE number > coalesce((SELECT max(id) FROM brain_words_docsize), 0)

-- name: list_brain_entries
-- List a tenant's memories of one kind, newest first. One kind, so that the index has this order.
SELECT entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, created_ms
FROM brain_entries
WHERE workspace_id = :workspace_id AND tenant_id = :tenant_id AND kind = :kind AND state <> 'retired'
ORDER BY entry_id DESC LIMIT :most

-- name: list_usable_entries [sqlite]
-- List a tenant's newest memories of each of these kinds, without claims that were only logged. The newest are found by
-- the index, kind by kind, before claims are left out.
SELECT e.entry_id, e.tenant_id, e.kind, e.body, e.state, e.source, e.channel, e.run_id, e.action_id, e.facts,
       e.created_ms
FROM json_each(:kinds) k
CROSS JOIN brain_entries e
WHERE e.number IN (
    SELECT n.number FROM brain_entries n
    WHERE n.workspace_id = :workspace_id AND n.tenant_id = :tenant_id AND n.kind = k.value AND n.state <> 'retired'
    ORDER BY n.entry_id DESC LIMIT :most)
  AND (e.kind <> 'claim_risk' OR e.state = 'confirmed')

-- name: list_usable_entries [postgres]
-- As on SQLite.
SELECT e.entry_id, e.tenant_id, e.kind, e.body, e.state, e.source, e.channel, e.run_id, e.action_id, e.facts,
       e.created_ms
FROM json_array_elements_text(CAST(:kinds AS JSON)) AS k (kind)
CROSS JOIN LATERAL (
    SELECT n.* FROM brain_entries n
    WHERE n.workspace_id = :workspace_id AND n.tenant_id = :tenant_id AND n.kind = k.kind AND n.state <> 'retired'
    ORDER BY n.entry_id DESC LIMIT :most) e
WHERE e.kind <> 'claim_risk' OR e.state = 'confirmed'

-- name: search_brain_entries [sqlite]
-- List a tenant's memories with these words, best match first.
SELECT e.entry_id, e.tenant_id, e.kind, e.body, e.state, e.source, e.channel, e.run_id, e.action_id, e.facts,
       e.created_ms
FROM brain_words w JOIN brain_entries e ON e.number = w.rowid
WHERE brain_words MATCH :query AND e.workspace_id = :workspace_id AND e.tenant_id = :tenant_id
  AND e.state <> 'retired' AND (:kind = '' OR e.kind = :kind)
ORDER BY bm25(brain_words), e.entry_id DESC LIMIT :most

-- name: search_brain_entries [postgres]
-- List a tenant's memories with these words, best match first.
SELECT entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, created_ms
FROM brain_entries
WHERE words @@ websearch_to_tsquery('simple', :query) AND workspace_id = :workspace_id AND tenant_id = :tenant_id
  AND state <> 'retired' AND (:kind = '' OR kind = :kind)
ORDER BY ts_rank(words, websearch_to_tsquery('simple', :query)) DESC, entry_id DESC LIMIT :most

-- name: set_brain_state
-- Confirm or retire a memory.
UPDATE brain_entries SET state = :state
WHERE workspace_id = :workspace_id AND tenant_id = :tenant_id AND entry_id = :entry_id
RETURNING entry_id

-- name: set_brain_state_by_key
-- Retire the memory of a withdrawn decision, or make it active again.
UPDATE brain_entries SET state = :state
WHERE workspace_id = :workspace_id AND natural_key = :natural_key
RETURNING entry_id

-- name: schedule_measurement [counted]
-- Schedule the measurement of a run; its first effect sets the time.
INSERT INTO measurements (workspace_id, run_id, tenant_id, due_ms)
VALUES (:workspace_id, :run_id, :tenant_id, :due_ms)
ON CONFLICT (workspace_id, run_id) DO NOTHING
RETURNING run_id

-- name: find_measurement
-- Find when a run is or was measured, and the result.
SELECT run_id, tenant_id, asset_id, due_ms, measured_ms, body FROM measurements
WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: store_measurement
-- Store a measurement with its asset.
UPDATE measurements SET asset_id = :asset_id, measured_ms = :measured_ms, body = :body
WHERE workspace_id = :workspace_id AND run_id = :run_id
RETURNING run_id

-- name: list_measurements
-- A tenant's measured runs, newest first.
SELECT run_id, tenant_id, asset_id, due_ms, measured_ms, body FROM measurements
WHERE workspace_id = :workspace_id AND tenant_id = :tenant_id AND measured_ms IS NOT NULL
ORDER BY measured_ms DESC LIMIT :most

-- name: list_due_measurements
-- List runs that wait for their measurement, soonest first.
SELECT run_id, tenant_id, asset_id, due_ms, measured_ms, body FROM measurements
WHERE workspace_id = :workspace_id AND measured_ms IS NULL ORDER BY due_ms LIMIT :most

-- name: record_manual_metrics
-- Store numbers that a person reported for a channel without an API.
INSERT INTO manual_metrics (workspace_id, run_id, channel, metrics, source, recorded_ms)
VALUES (:workspace_id, :run_id, :channel, :metrics, :source, :recorded_ms)
ON CONFLICT (workspace_id, run_id, channel)
DO UPDATE SET metrics = excluded.metrics, source = excluded.source, recorded_ms = excluded.recorded_ms

-- name: list_manual_metrics
-- List the manually reported numbers of a run.
SELECT channel, metrics, source, recorded_ms FROM manual_metrics
WHERE workspace_id = :workspace_id AND run_id = :run_id ORDER BY channel

-- name: list_recent_assets
-- The assets of a workspace, newest first, before a cursor.
SELECT asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms FROM assets
WHERE workspace_id = :workspace_id AND (:before = '' OR asset_id < :before) ORDER BY asset_id DESC LIMIT :most

-- name: find_asset
-- One asset of a workspace.
SELECT asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms FROM assets
WHERE workspace_id = :workspace_id AND asset_id = :asset_id

-- name: erase_decision_memories
-- Empty the memories of decisions about an action whose content was erased: they quote it.
UPDATE brain_entries SET body = :notice, facts = '{}', state = 'retired'
WHERE workspace_id = :workspace_id AND action_id = :action_id AND kind IN ('approval', 'rejection', 'edit')

-- name: index_brain_words_again [sqlite, skipped on postgres]
-- Build the index of words again, because texts changed in place.
INSERT INTO brain_words (brain_words) VALUES ('rebuild')
