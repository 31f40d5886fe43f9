-- name: list_run_page
-- List a page of a workspace's runs, newest first, with the number of their actions in each state. Empty filters match
-- all; a state is a status or an execution state. Selected first and joined afterwards, so that only the page's actions
-- are counted. Runs that only read memory or explain a connection are listed only if their operator is asked for. The
-- caller bounds a search by `since`, so that a rare match does not read all history.
WITH picked AS (
  SELECT r.run_id FROM runs r
  WHERE r.workspace_id = :workspace_id AND r.run_id >= :since AND r.run_id < :before
    AND (:tenant = '' OR coalesce(r.tenant_id, 'default') = :tenant)
    AND (r.operator = :operator OR (:operator = '' AND r.operator NOT IN ('chieflab-brain', 'chieflab-connect')))
    AND (:everything = 1 OR r.run_id IN (SELECT w.key FROM json_each(:wanted) w))
    AND (:state = '' OR EXISTS (
      SELECT 1 FROM actions x WHERE x.workspace_id = :workspace_id AND x.run_id = r.run_id
      AND (x.status = :state OR x.execution_state = :state)))
  ORDER BY r.run_id DESC LIMIT :most
), counted AS (
  SELECT p.run_id, a.status, a.execution_state, count(a.run_id) AS actions,
         sum(CASE WHEN a.expires_ms <= :now_ms THEN 1 ELSE 0 END) AS overdue
  FROM picked p LEFT JOIN actions a ON a.workspace_id = :workspace_id AND a.run_id = p.run_id
  GROUP BY p.run_id, a.status, a.execution_state
)
SELECT r.run_id, r.tenant_id, r.operator, r.tool, r.inputs, r.parent_run_id, r.created_ms, r.status,
       c.status AS action_status, c.execution_state, c.actions, c.overdue
FROM counted c LEFT JOIN runs r ON r.workspace_id = :workspace_id AND r.run_id = c.run_id
ORDER BY r.run_id DESC

-- name: count_run_states
-- Count the actions of a run by state.
SELECT status, execution_state, count(*) AS actions,
       sum(CASE WHEN expires_ms <= :now_ms THEN 1 ELSE 0 END) AS overdue
FROM actions WHERE workspace_id = :workspace_id AND run_id = :run_id GROUP BY status, execution_state

-- name: list_run_actions_page
-- List a page of a run's actions in the order of staging, after a cursor. Selected in the index first.
WITH picked AS (
  SELECT action_id, position FROM actions
  WHERE workspace_id = :workspace_id AND run_id = :run_id AND (position, action_id) > (:position, :after)
  ORDER BY position, action_id LIMIT :most
)
SELECT a.* FROM picked p JOIN actions a ON a.workspace_id = :workspace_id AND a.action_id = p.action_id
ORDER BY a.position, a.action_id

-- name: list_run_actions_in
-- Like list_run_actions_page, with one status or execution state only.
SELECT a.* FROM actions a
WHERE a.workspace_id = :workspace_id AND a.run_id = :run_id AND (a.status = :state OR a.execution_state = :state)
  AND (a.position, a.action_id) > (:position, :after)
ORDER BY a.position, a.action_id LIMIT :most

-- name: list_run_assets_page
-- The first assets of a run.
SELECT asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms
FROM assets WHERE workspace_id = :workspace_id AND run_id = :run_id ORDER BY asset_id LIMIT :most

-- name: list_run_children
-- List runs that were prepared from a run.
SELECT run_id, operator, created_ms FROM runs
WHERE workspace_id = :workspace_id AND parent_run_id = :run_id ORDER BY run_id LIMIT :most

-- name: list_events_before
-- List a page of a workspace's journal since a time, newest first, before a cursor. Kinds are a list between spaces;
-- empty for all.
SELECT stream_id, seq, kind, at_ms, body, hash FROM events
WHERE workspace_id = :workspace_id AND at_ms >= :since_ms AND at_ms <= :at_ms
  AND (at_ms < :at_ms OR (stream_id, seq) < (:stream_id, :seq))
  AND (:kinds = '' OR :kinds LIKE '% ' || kind || ' %')
ORDER BY at_ms DESC, stream_id DESC, seq DESC LIMIT :most

-- name: list_stream_before
-- A page of one stream, newest first, before an event.
SELECT stream_id, seq, kind, at_ms, body, hash FROM events
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND seq < :seq AND at_ms <= :at_ms AND at_ms >= :since_ms
  AND (:kinds = '' OR :kinds LIKE '% ' || kind || ' %')
ORDER BY seq DESC LIMIT :most

-- name: list_heads_of
-- List the heads of one workspace's streams in a fixed order, after a cursor.
SELECT workspace_id, stream_id, seq, hash FROM streams
WHERE workspace_id = :workspace_id AND stream_id > :after_stream
ORDER BY stream_id LIMIT :most OFFSET :skip

-- name: list_headless_streams_of
-- List streams of one workspace with events and without a head.
SELECT DISTINCT e.workspace_id, e.stream_id FROM events e
LEFT JOIN streams s ON s.workspace_id = e.workspace_id AND s.stream_id = e.stream_id
WHERE e.workspace_id = :workspace_id AND s.stream_id IS NULL LIMIT :most

-- name: list_session_page
-- List a page of a workspace's sessions, newest first, before a cursor; `wanted` are runs that a search found.
SELECT s.session_id, s.created_ms, s.updated_ms FROM workflow_sessions s
WHERE s.workspace_id = :workspace_id AND (s.updated_ms, s.session_id) < (:updated_ms, :before)
  AND (:everything = 1 OR EXISTS (
    SELECT 1 FROM workflow_runs r WHERE r.workspace_id = :workspace_id AND r.session_id = s.session_id
    AND r.run_id IN (SELECT w.key FROM json_each(:wanted) w)))
ORDER BY s.updated_ms DESC, s.session_id DESC LIMIT :most

-- name: list_latest_session_runs
-- List the newest runs of a session.
SELECT run_id, session_id, workflow_id, workflow_hash, name, nodes, created_ms, updated_ms FROM workflow_runs
WHERE workspace_id = :workspace_id AND session_id = :session_id ORDER BY updated_ms DESC, run_id DESC LIMIT :most

-- name: count_session_runs
-- Count the runs of a session.
SELECT count(*) AS runs FROM workflow_runs WHERE workspace_id = :workspace_id AND session_id = :session_id

-- name: list_run_leaves
-- List the leaves of a run with the number of each one's last event, and the questions to a person that are open there;
-- the highest number is the tip.
SELECT n.node, n.is_complete, n.event_seq, max(c.event_seq) AS noted_seq,
  (SELECT count(*) FROM workflow_confirmations f
   JOIN actions a ON a.workspace_id = f.workspace_id AND a.action_id = f.action_id
   WHERE f.workspace_id = :workspace_id AND f.run_id = :run_id AND f.node = n.node
     AND a.status = 'awaiting_approval') AS questions
FROM workflow_nodes n LEFT JOIN workflow_checkpoints c
  ON c.workspace_id = n.workspace_id AND c.run_id = n.run_id AND c.node = n.node
WHERE n.workspace_id = :workspace_id AND n.run_id = :run_id AND n.children = 0
GROUP BY n.node, n.is_complete, n.event_seq

-- name: list_workflow_tree
-- List every node of a run without its content, in order of creation.
SELECT node, parent, step_key, title, is_complete, event_seq, created_ms FROM workflow_nodes
WHERE workspace_id = :workspace_id AND run_id = :run_id ORDER BY node

-- name: count_refused_attempts
-- Count the refused advances of a run by node.
SELECT node, count(*) AS refused FROM workflow_answers
WHERE workspace_id = :workspace_id AND run_id = :run_id AND child IS NULL GROUP BY node

-- name: count_node_checkpoints
-- Count the checkpoints of a run by node, with the number of the last one's event.
SELECT node, count(*) AS checkpoints, max(event_seq) AS noted_seq FROM workflow_checkpoints
WHERE workspace_id = :workspace_id AND run_id = :run_id GROUP BY node

-- name: list_run_confirmations
-- List the confirmations of a run and their results.
SELECT c.node, c.step_key, c.action_id, a.status, a.execution_state FROM workflow_confirmations c
JOIN actions a ON a.workspace_id = c.workspace_id AND a.action_id = c.action_id
WHERE c.workspace_id = :workspace_id AND c.run_id = :run_id ORDER BY c.event_seq

-- name: read_workflow_step
-- Read a node with its content.
SELECT node, parent, step_key, title, notes, artifacts, snapshot, is_complete, children, created_ms
FROM workflow_nodes WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node

-- name: list_refused_attempts
-- List the refusals of advances from a node, in order.
SELECT answer, created_ms FROM workflow_answers
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node AND child IS NULL
ORDER BY created_ms, edge LIMIT :most

-- name: list_run_refusals
-- List the times of all refused advances of a run, in order.
SELECT node, created_ms FROM workflow_answers
WHERE workspace_id = :workspace_id AND run_id = :run_id AND child IS NULL ORDER BY created_ms, node, edge

-- name: list_nodes_with_output
-- List the nodes of a run that have structured output, in order of creation.
SELECT node, artifacts FROM workflow_nodes
WHERE workspace_id = :workspace_id AND run_id = :run_id AND artifacts <> '[]' ORDER BY node

-- name: list_node_checkpoints
-- List the checkpoints of a node, in order.
SELECT notes, created_ms FROM workflow_checkpoints
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node ORDER BY event_seq LIMIT :most

-- name: last_event_of_kind
-- The newest event of one kind in a stream.
SELECT seq, kind, at_ms, body, hash FROM events
WHERE workspace_id = :workspace_id AND stream_id = :stream_id AND kind = :kind ORDER BY seq DESC LIMIT 1
