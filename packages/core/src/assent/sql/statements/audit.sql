-- name: last_checkpoint
-- The newest checkpoint.
SELECT number, at_ms, body, signature, public_key FROM checkpoints
WHERE workspace_id = :workspace_id ORDER BY number DESC LIMIT 1

-- name: list_checkpoints
-- Checkpoints in order, after a number.
SELECT number, at_ms, body, signature, public_key FROM checkpoints
WHERE workspace_id = :workspace_id AND number > :after ORDER BY number LIMIT :most

-- name: insert_checkpoint
-- A checkpoint, unless another process has just written this number.
INSERT INTO checkpoints (workspace_id, number, at_ms, body, signature, public_key)
VALUES (:workspace_id, :number, :at_ms, :body, :signature, :public_key)
ON CONFLICT (workspace_id, number) DO NOTHING
RETURNING number

-- name: heads_changed_since
-- List heads of streams that grew since a time, in a fixed order.
SELECT workspace_id, stream_id, seq, hash FROM streams
WHERE updated_at >= :since_ms AND seq > 0 ORDER BY workspace_id, stream_id

-- name: last_dated_head
-- When a stream last grew, to the minute.
SELECT updated_at FROM streams ORDER BY updated_at DESC LIMIT 1

-- name: list_heads
-- List the heads of all streams in a fixed order, after a cursor.
SELECT workspace_id, stream_id, seq, hash FROM streams
WHERE (workspace_id, stream_id) > (:after_workspace, :after_stream)
ORDER BY workspace_id, stream_id LIMIT :most OFFSET :skip

-- name: list_headless_streams
-- List streams with events and without a head, which is a sign of tampering.
SELECT DISTINCT e.workspace_id, e.stream_id FROM events e
LEFT JOIN streams s ON s.workspace_id = e.workspace_id AND s.stream_id = e.stream_id
WHERE s.stream_id IS NULL LIMIT :most

-- name: list_unlogged_actions
-- List actions of runs without a stream, which is a sign of tampering; of one workspace or all.
SELECT a.workspace_id, a.run_id, a.action_id FROM actions a
LEFT JOIN streams s ON s.workspace_id = a.workspace_id AND s.stream_id = a.run_id
WHERE s.stream_id IS NULL AND (:workspace_id = '' OR a.workspace_id = :workspace_id) LIMIT :most

-- name: find_event_hash
-- The chain hash of one event.
SELECT hash FROM events WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND seq = :seq

-- name: list_events_since
-- List the events of a workspace since a time, newest first. Kinds are a list between spaces; empty for all.
SELECT stream_id, seq, kind, at_ms, body, hash FROM events
WHERE workspace_id = :workspace_id AND at_ms >= :since_ms AND (:kinds = '' OR :kinds LIKE '% ' || kind || ' %')
ORDER BY at_ms DESC, stream_id DESC, seq DESC LIMIT :most

-- name: list_active_actions [sqlite]
-- List the ids of the actions with an event since a time, the latest first, and how many events were read.
WITH latest AS (
  SELECT kind, at_ms, body FROM events
  WHERE workspace_id = :workspace_id AND at_ms >= :since_ms AND :kinds LIKE '% ' || kind || ' %'
  ORDER BY at_ms DESC, stream_id DESC, seq DESC LIMIT :most
)
SELECT a.action_id, a.executor_tool = 'workflow_advance' AS is_step, (SELECT count(*) FROM latest) AS events
FROM (
  SELECT json_extract(body, '$.actionId') AS action_id, at_ms FROM latest
  UNION ALL
  SELECT json_extract(p.value, '$.actionId') AS action_id, l.at_ms FROM latest l, json_each(l.body, '$.actions') p
  WHERE l.kind = 'run_prepared'
) AS f CROSS JOIN actions a
WHERE a.workspace_id = :workspace_id AND a.action_id = f.action_id
GROUP BY a.action_id, is_step ORDER BY max(f.at_ms) DESC, a.action_id DESC

-- name: list_active_actions [postgres]
-- As on SQLite.
WITH latest AS (
  SELECT kind, at_ms, CAST(body AS JSON) AS body FROM events
  WHERE workspace_id = :workspace_id AND at_ms >= :since_ms AND :kinds LIKE '% ' || kind || ' %'
  ORDER BY at_ms DESC, stream_id DESC, seq DESC LIMIT :most
)
SELECT a.action_id, a.executor_tool = 'workflow_advance' AS is_step, (SELECT count(*) FROM latest) AS events
FROM (
  SELECT body ->> 'actionId' AS action_id, at_ms FROM latest
  UNION ALL
  SELECT p.value ->> 'actionId' AS action_id, l.at_ms FROM latest l, json_array_elements(l.body -> 'actions') p
  WHERE l.kind = 'run_prepared'
) AS f JOIN actions a ON a.workspace_id = :workspace_id AND a.action_id = f.action_id
GROUP BY a.action_id, is_step ORDER BY max(f.at_ms) DESC, a.action_id DESC

-- name: count_actions_by_state [sqlite]
-- Count actions by all that their section of a report depends on. What was taken back and what took it back are one
-- subject.
SELECT a.status, a.execution_state, coalesce(a.expires_ms <= :now_ms, FALSE) AS is_late,
  coalesce(json_extract(a.view, '$.executes'), 'server') = 'person' AS by_hand,
  json_extract(a.metadata, '$.undone') IS NOT NULL OR coalesce(json_extract(a.view, '$.removes'), 0) AS is_gone,
  count(DISTINCT CASE WHEN json_extract(a.view, '$.removes') AND a.status = 'executed'
    THEN json_extract(a.effect, '$.details.actionId') ELSE a.action_id END) AS subjects
FROM json_each(:wanted) w CROSS JOIN actions a
WHERE a.workspace_id = :workspace_id AND a.action_id = w.value
GROUP BY 1, 2, 3, 4, 5

-- name: count_actions_by_state [postgres]
-- As on SQLite.
SELECT a.status, a.execution_state, coalesce(a.expires_ms <= :now_ms, FALSE) AS is_late,
  coalesce(CAST(a.view AS JSON) ->> 'executes', 'server') = 'person' AS by_hand,
  CAST(a.metadata AS JSON) -> 'undone' IS NOT NULL
    OR coalesce(CAST(CAST(a.view AS JSON) ->> 'removes' AS BOOLEAN), FALSE) AS is_gone,
  count(DISTINCT CASE WHEN CAST(CAST(a.view AS JSON) ->> 'removes' AS BOOLEAN) AND a.status = 'executed'
    THEN CAST(a.effect AS JSON) -> 'details' ->> 'actionId' ELSE a.action_id END) AS subjects
FROM json_array_elements_text(CAST(:wanted AS JSON)) w JOIN actions a ON a.action_id = w.value
WHERE a.workspace_id = :workspace_id
GROUP BY 1, 2, 3, 4, 5

-- name: list_actions_by_id [sqlite]
-- Actions by primary key: pairs of workspace and action.
SELECT a.* FROM json_each(:wanted) w
CROSS JOIN actions a
WHERE a.workspace_id = json_extract(w.value, '$[0]') AND a.action_id = json_extract(w.value, '$[1]')

-- name: list_actions_by_id [postgres]
-- As on SQLite.
SELECT a.* FROM json_array_elements(CAST(:wanted AS JSON)) w
JOIN actions a ON a.workspace_id = w ->> 0 AND a.action_id = w ->> 1

-- name: list_heads_by_id [sqlite]
-- Heads of streams by primary key: pairs of workspace and stream.
SELECT s.stream_id, s.seq, s.hash FROM json_each(:wanted) w
CROSS JOIN streams s
WHERE s.workspace_id = json_extract(w.value, '$[0]') AND s.stream_id = json_extract(w.value, '$[1]')

-- name: list_heads_by_id [postgres]
-- As on SQLite.
SELECT s.stream_id, s.seq, s.hash FROM json_array_elements(CAST(:wanted AS JSON)) w
JOIN streams s ON s.workspace_id = w ->> 0 AND s.stream_id = w ->> 1
