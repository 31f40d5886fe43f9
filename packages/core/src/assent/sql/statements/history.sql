-- Statements of the screens that look back. Each reads a bounded part of the history: a page, a window or a day.

-- name: find_run_window
-- Find how far back a search among the runs looks: the run at the end of a window.
SELECT r.run_id FROM runs r
WHERE r.workspace_id = :workspace_id AND r.run_id >= :since AND r.run_id < :before
ORDER BY r.run_id DESC LIMIT 1 OFFSET :last

-- name: count_run_days [sqlite]
-- Count the runs of each day, up to a number: a day is the pair of its first id and the first id after it.
SELECT d.key AS day, (SELECT count(*) FROM (
  SELECT 1 FROM runs r WHERE r.workspace_id = :workspace_id
    AND r.run_id >= json_extract(d.value, '$[0]') AND r.run_id < json_extract(d.value, '$[1]') LIMIT :most
)) AS counted FROM json_each(:days) d

-- name: count_run_days [postgres]
-- As on SQLite.
SELECT d.place - 1 AS day, (SELECT count(*) FROM (
  SELECT 1 FROM runs r WHERE r.workspace_id = :workspace_id
    AND r.run_id >= d.value ->> 0 AND r.run_id < d.value ->> 1 LIMIT :most
) AS few) AS counted FROM json_array_elements(CAST(:days AS JSON)) WITH ORDINALITY AS d (value, place)

-- name: count_event_days [sqlite]
-- Count the events of each day, up to a number: a day is the pair of its first millisecond and the first one after it.
SELECT d.key AS day, (SELECT count(*) FROM (
  SELECT 1 FROM events e WHERE e.workspace_id = :workspace_id
    AND e.at_ms >= json_extract(d.value, '$[0]') AND e.at_ms < json_extract(d.value, '$[1]') LIMIT :most
)) AS counted FROM json_each(:days) d

-- name: count_event_days [postgres]
-- As on SQLite.
SELECT d.place - 1 AS day, (SELECT count(*) FROM (
  SELECT 1 FROM events e WHERE e.workspace_id = :workspace_id
    AND e.at_ms >= CAST(d.value ->> 0 AS BIGINT) AND e.at_ms < CAST(d.value ->> 1 AS BIGINT) LIMIT :most
) AS few) AS counted FROM json_array_elements(CAST(:days AS JSON)) WITH ORDINALITY AS d (value, place)

-- name: list_first_actions [sqlite]
-- List the first actions of runs, to name the runs.
SELECT a.run_id, a.action_id, a.status, a.execution_state, a.view,
       CASE WHEN :with_effect = 1 THEN a.effect ELSE '' END AS effect
FROM json_each(:wanted) w CROSS JOIN actions a
WHERE a.workspace_id = :workspace_id AND a.run_id = w.value AND a.position < :most
ORDER BY a.run_id, a.position

-- name: list_first_actions [postgres]
-- As on SQLite.
SELECT a.run_id, a.action_id, a.status, a.execution_state, a.view,
       CASE WHEN CAST(:with_effect AS BIGINT) = 1 THEN a.effect ELSE '' END AS effect
FROM json_array_elements_text(CAST(:wanted AS JSON)) AS w (value)
JOIN actions a ON a.workspace_id = :workspace_id AND a.run_id = w.value AND a.position < :most
ORDER BY a.run_id, a.position

-- name: list_action_names [sqlite]
-- List the views of actions, to name them.
SELECT a.action_id, a.run_id, a.view FROM json_each(:wanted) w CROSS JOIN actions a
WHERE a.workspace_id = :workspace_id AND a.action_id = w.value

-- name: list_action_names [postgres]
-- As on SQLite.
SELECT a.action_id, a.run_id, a.view FROM json_array_elements_text(CAST(:wanted AS JSON)) AS w (value)
JOIN actions a ON a.workspace_id = :workspace_id AND a.action_id = w.value

-- name: list_run_inputs [sqlite]
-- List the inputs of runs, to name them.
SELECT r.run_id, r.operator, r.inputs FROM json_each(:wanted) w CROSS JOIN runs r
WHERE r.workspace_id = :workspace_id AND r.run_id = w.value

-- name: list_run_inputs [postgres]
-- As on SQLite.
SELECT r.run_id, r.operator, r.inputs FROM json_array_elements_text(CAST(:wanted AS JSON)) AS w (value)
JOIN runs r ON r.workspace_id = :workspace_id AND r.run_id = w.value

-- name: find_event_window
-- Find how far back a search in the journal looks: the event at the end of a window.
SELECT e.at_ms, e.stream_id, e.seq FROM events e
WHERE e.workspace_id = :workspace_id AND e.at_ms >= :since_ms AND e.at_ms <= :at_ms
  AND (e.at_ms < :at_ms OR (e.stream_id, e.seq) < (:stream_id, :seq))
ORDER BY e.at_ms DESC, e.stream_id DESC, e.seq DESC LIMIT 1 OFFSET :last

-- name: search_events [sqlite]
-- Search the journal of a workspace from a cursor back to the end of a window, newest first: the facts of an event, the
-- content of its action, the inputs of its run. Kinds are a list between spaces; empty for all.
SELECT e.stream_id, e.seq, e.kind, e.at_ms, e.body, e.hash FROM events e
WHERE e.workspace_id = :workspace_id AND e.at_ms >= :end_ms AND e.at_ms <= :at_ms
  AND (e.at_ms < :at_ms OR (e.stream_id, e.seq) < (:stream_id, :seq))
  AND (e.at_ms > :end_ms OR (e.stream_id, e.seq) >= (:end_stream_id, :end_seq))
  AND (:kinds = '' OR :kinds LIKE '% ' || e.kind || ' %')
  AND (e.body LIKE :pattern ESCAPE '!'
    OR EXISTS (SELECT 1 FROM actions a WHERE a.workspace_id = :workspace_id
      AND a.action_id = json_extract(e.body, '$.actionId') AND a.effect LIKE :pattern ESCAPE '!')
    OR EXISTS (SELECT 1 FROM runs r WHERE r.workspace_id = :workspace_id AND r.run_id = e.stream_id
      AND r.inputs LIKE :pattern ESCAPE '!'))
ORDER BY e.at_ms DESC, e.stream_id DESC, e.seq DESC LIMIT :most

-- name: search_events [postgres]
-- Search the journal of a workspace from a cursor back to the end of a window, newest first: the facts of an event, the
-- content of its action, the inputs of its run. Kinds are a list between spaces; empty for all.
SELECT e.stream_id, e.seq, e.kind, e.at_ms, e.body, e.hash FROM events e
WHERE e.workspace_id = :workspace_id AND e.at_ms >= :end_ms AND e.at_ms <= :at_ms
  AND (e.at_ms < :at_ms OR (e.stream_id, e.seq) < (:stream_id, :seq))
  AND (e.at_ms > :end_ms OR (e.stream_id, e.seq) >= (:end_stream_id, :end_seq))
  AND (:kinds = '' OR :kinds LIKE '% ' || e.kind || ' %')
  AND (e.body ILIKE :pattern ESCAPE '!'
    OR EXISTS (SELECT 1 FROM actions a WHERE a.workspace_id = :workspace_id
      AND a.action_id = CAST(e.body AS JSON) ->> 'actionId' AND a.effect ILIKE :pattern ESCAPE '!')
    OR EXISTS (SELECT 1 FROM runs r WHERE r.workspace_id = :workspace_id AND r.run_id = e.stream_id
      AND r.inputs ILIKE :pattern ESCAPE '!'))
ORDER BY e.at_ms DESC, e.stream_id DESC, e.seq DESC LIMIT :most

-- name: list_decisions [sqlite]
-- List approvals and rejections since a time, newest first, with the facts of their actions.
SELECT e.kind, e.at_ms, e.body, a.action_id, a.run_id, a.created_ms, a.risk, a.proposed_by, a.executor_tool,
       json_extract(a.effect, '$.channel') AS channel, json_extract(a.effect, '$.verb') AS verb
FROM (
  SELECT kind, at_ms, body FROM events INDEXED BY events_decided
  WHERE workspace_id = :workspace_id AND kind IN ('action_approve', 'action_reject') AND at_ms > :since_ms
  ORDER BY at_ms DESC LIMIT :most
) e CROSS JOIN actions a
WHERE a.workspace_id = :workspace_id AND a.action_id = json_extract(e.body, '$.actionId')

-- name: list_decisions [postgres]
-- As on SQLite.
SELECT e.kind, e.at_ms, e.body, a.action_id, a.run_id, a.created_ms, a.risk, a.proposed_by, a.executor_tool,
       CAST(a.effect AS JSON) ->> 'channel' AS channel, CAST(a.effect AS JSON) ->> 'verb' AS verb
FROM (
  SELECT kind, at_ms, body FROM events
  WHERE workspace_id = :workspace_id AND kind IN ('action_approve', 'action_reject') AND at_ms > :since_ms
  ORDER BY at_ms DESC LIMIT :most
) AS e JOIN actions a ON a.workspace_id = :workspace_id AND a.action_id = CAST(e.body AS JSON) ->> 'actionId'

-- name: count_waiting_ages [sqlite]
-- Count what waits for a decision by age: ids sort by it. An age is the pair of its oldest id and the first younger one.
SELECT d.key AS age, (SELECT count(*) FROM (
  SELECT 1 FROM actions a INDEXED BY actions_waiting WHERE a.workspace_id = :workspace_id
    AND (a.status = 'awaiting_approval' OR a.execution_state = 'outcome_unknown') AND a.status = 'awaiting_approval'
    AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
    AND a.action_id >= json_extract(d.value, '$[0]') AND a.action_id < json_extract(d.value, '$[1]') LIMIT :most
)) AS waiting FROM json_each(:ages) d

-- name: count_waiting_ages [postgres]
-- As on SQLite.
SELECT d.place - 1 AS age, (SELECT count(*) FROM (
  SELECT 1 FROM actions a WHERE a.workspace_id = :workspace_id AND a.status = 'awaiting_approval'
    AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
    AND a.action_id >= d.value ->> 0 AND a.action_id < d.value ->> 1 LIMIT :most
) AS few) AS waiting FROM json_array_elements(CAST(:ages AS JSON)) WITH ORDINALITY AS d (value, place)

-- name: count_sent [sqlite]
-- Count what went out, failed and has an unknown outcome since a time, each up to a number.
SELECT
  (SELECT count(*) FROM (SELECT 1 FROM actions INDEXED BY actions_sent WHERE workspace_id = :workspace_id
    AND executed_ms > :since_ms AND executed_ms IS NOT NULL AND executor_tool <> 'workflow_advance' LIMIT :most)) AS sent,
  (SELECT count(*) FROM (SELECT 1 FROM actions INDEXED BY actions_failed WHERE workspace_id = :workspace_id
    AND status = 'failed' AND action_id > :since LIMIT :most)) AS failed,
  (SELECT count(*) FROM (SELECT 1 FROM actions INDEXED BY actions_unknown WHERE workspace_id = :workspace_id
    AND execution_state = 'outcome_unknown' LIMIT :most)) AS unknown

-- name: count_sent [postgres]
-- As on SQLite.
SELECT
  (SELECT count(*) FROM (SELECT 1 FROM actions WHERE workspace_id = :workspace_id AND executed_ms > :since_ms
    AND executed_ms IS NOT NULL AND executor_tool <> 'workflow_advance' LIMIT :most) AS few) AS sent,
  (SELECT count(*) FROM (SELECT 1 FROM actions WHERE workspace_id = :workspace_id AND status = 'failed'
    AND action_id > :since LIMIT :most) AS few) AS failed,
  (SELECT count(*) FROM (SELECT 1 FROM actions WHERE workspace_id = :workspace_id
    AND execution_state = 'outcome_unknown' LIMIT :most) AS few) AS unknown

-- name: has_run
-- Whether anything was ever prepared in a workspace.
SELECT 1 AS one FROM runs WHERE workspace_id = :workspace_id LIMIT 1

-- name: list_run_heads [sqlite]
-- List what runs were about, when their first action went out, and the channels of what was undone.
SELECT r.run_id, r.operator, r.inputs, r.created_ms,
  (SELECT MIN(a.executed_ms) FROM actions a INDEXED BY actions_by_run
   WHERE a.workspace_id = :workspace_id AND a.run_id = r.run_id) AS sent_ms,
  (SELECT group_concat(json_extract(a.effect, '$.channel'), ' ') FROM actions a INDEXED BY actions_by_run
   WHERE a.workspace_id = :workspace_id AND a.run_id = r.run_id
     AND json_extract(a.metadata, '$.undone') IS NOT NULL) AS undone
FROM json_each(:wanted) w CROSS JOIN runs r
WHERE r.workspace_id = :workspace_id AND r.run_id = w.value

-- name: list_run_heads [postgres]
-- As on SQLite.
SELECT r.run_id, r.operator, r.inputs, r.created_ms,
  (SELECT MIN(a.executed_ms) FROM actions a WHERE a.workspace_id = :workspace_id AND a.run_id = r.run_id) AS sent_ms,
  (SELECT string_agg(CAST(a.effect AS JSON) ->> 'channel', ' ') FROM actions a
   WHERE a.workspace_id = :workspace_id AND a.run_id = r.run_id
     AND CAST(a.metadata AS JSON) -> 'undone' IS NOT NULL) AS undone
FROM json_array_elements_text(CAST(:wanted AS JSON)) AS w (value)
JOIN runs r ON r.workspace_id = :workspace_id AND r.run_id = w.value

-- name: count_drafts [sqlite]
-- Count drafts of runs by what became of their actions.
SELECT a.status, CASE WHEN a.revision > 1 THEN 1 ELSE 0 END AS changed, count(*) AS drafts
FROM json_each(:wanted) w LEFT JOIN actions a ON a.workspace_id = :workspace_id
  AND a.run_id = json_extract(w.value, '$[0]') AND a.asset_id = json_extract(w.value, '$[1]')
GROUP BY a.status, CASE WHEN a.revision > 1 THEN 1 ELSE 0 END

-- name: count_drafts [postgres]
-- As on SQLite.
SELECT a.status, CASE WHEN a.revision > 1 THEN 1 ELSE 0 END AS changed, count(*) AS drafts
FROM json_array_elements(CAST(:wanted AS JSON)) AS w (value) LEFT JOIN actions a ON a.workspace_id = :workspace_id
  AND a.run_id = w.value ->> 0 AND a.asset_id = w.value ->> 1
GROUP BY a.status, CASE WHEN a.revision > 1 THEN 1 ELSE 0 END
