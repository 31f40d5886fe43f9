-- On SQLite each section names its index: without statistics the planner takes the primary key, and reads all history.

-- name: list_unknown_actions [postgres]
-- List actions with an unknown outcome, newest first.
SELECT a.* FROM actions a
WHERE a.workspace_id = :workspace_id AND a.execution_state = 'outcome_unknown'
ORDER BY a.action_id DESC LIMIT :most

-- name: list_unknown_actions [sqlite]
-- List actions with an unknown outcome, newest first.
SELECT a.* FROM actions a INDEXED BY actions_unknown
WHERE a.workspace_id = :workspace_id AND a.execution_state = 'outcome_unknown'
ORDER BY a.action_id DESC LIMIT :most

-- name: list_awaiting_actions [postgres]
-- List actions that wait for approval and have not expired, newest first.
SELECT a.* FROM actions a
WHERE a.workspace_id = :workspace_id AND a.status = 'awaiting_approval'
  AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
ORDER BY a.action_id DESC LIMIT :most

-- name: list_awaiting_actions [sqlite]
-- List actions that wait for approval and have not expired, newest first.
SELECT a.* FROM actions a INDEXED BY actions_waiting
WHERE a.workspace_id = :workspace_id AND a.status = 'awaiting_approval'
  AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
ORDER BY a.action_id DESC LIMIT :most

-- name: list_unsent_actions [postgres]
-- List approved actions that have not expired and are not known to be sent, newest first.
SELECT a.* FROM actions a
WHERE a.workspace_id = :workspace_id AND a.status = 'approved' AND a.executor_tool <> 'workflow_advance'
  AND a.execution_state <> 'outcome_unknown'
  AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms OR a.execution_state = 'executing')
ORDER BY a.action_id DESC LIMIT :most

-- name: list_unsent_actions [sqlite]
-- List approved actions that have not expired and are not known to be sent, newest first.
SELECT a.* FROM actions a INDEXED BY actions_unsent
WHERE a.workspace_id = :workspace_id AND a.status = 'approved' AND a.executor_tool <> 'workflow_advance'
  AND a.execution_state <> 'outcome_unknown'
  AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms OR a.execution_state = 'executing')
ORDER BY a.action_id DESC LIMIT :most

-- name: list_lapsed_actions [postgres]
-- List approved actions that expired unsent since a time, newest first.
SELECT a.* FROM actions a
WHERE a.workspace_id = :workspace_id AND a.status = 'approved' AND a.executor_tool <> 'workflow_advance'
  AND a.execution_state IN ('none', 'retryable') AND a.expires_ms <= :now_ms AND a.expires_ms > :since_ms
ORDER BY a.action_id DESC LIMIT :most

-- name: list_lapsed_actions [sqlite]
-- List approved actions that expired unsent since a time, newest first.
SELECT a.* FROM actions a INDEXED BY actions_unsent
WHERE a.workspace_id = :workspace_id AND a.status = 'approved' AND a.executor_tool <> 'workflow_advance'
  AND a.execution_state IN ('none', 'retryable') AND a.expires_ms <= :now_ms AND a.expires_ms > :since_ms
ORDER BY a.action_id DESC LIMIT :most

-- name: list_failed_actions [postgres]
-- List actions refused for good since a time (ids sort by age), newest first.
SELECT a.* FROM actions a
WHERE a.workspace_id = :workspace_id AND a.status = 'failed' AND a.action_id > :since
ORDER BY a.action_id DESC LIMIT :most

-- name: list_failed_actions [sqlite]
-- List actions refused for good since a time (ids sort by age), newest first.
SELECT a.* FROM actions a INDEXED BY actions_failed
WHERE a.workspace_id = :workspace_id AND a.status = 'failed' AND a.action_id > :since
ORDER BY a.action_id DESC LIMIT :most

-- name: list_sent_actions
-- List actions sent since a time, newest first.
SELECT a.* FROM actions a
WHERE a.workspace_id = :workspace_id AND a.executed_ms > :since_ms AND a.executed_ms IS NOT NULL
  AND a.executor_tool <> 'workflow_advance'
ORDER BY a.executed_ms DESC, a.action_id DESC LIMIT :most

-- name: list_reviews [postgres]
-- List the newest rejections and edits since a time, with their actions.
SELECT a.*, e.kind AS event_kind, e.at_ms AS event_ms, e.body AS event_body FROM (
  SELECT kind, at_ms, body FROM events
  WHERE workspace_id = :workspace_id AND at_ms > :since_ms AND kind IN ('action_edit', 'action_reject')
  ORDER BY at_ms DESC, stream_id DESC, seq DESC LIMIT :most
) AS e JOIN actions a ON a.workspace_id = :workspace_id AND a.action_id = CAST(e.body AS JSON) ->> 'actionId'

-- name: list_reviews [sqlite]
-- As on PostgreSQL.
SELECT a.*, e.kind AS event_kind, e.at_ms AS event_ms, e.body AS event_body FROM (
  SELECT kind, at_ms, body FROM events INDEXED BY events_reviewed
  WHERE workspace_id = :workspace_id AND at_ms > :since_ms AND kind IN ('action_edit', 'action_reject')
  ORDER BY at_ms DESC, stream_id DESC, seq DESC LIMIT :most
) e CROSS JOIN actions a
WHERE a.workspace_id = :workspace_id AND a.action_id = json_extract(e.body, '$.actionId')

-- name: count_status [postgres]
-- Count the actions of each section, up to a number.
SELECT
  (SELECT count(*) FROM (SELECT 1 FROM actions
    WHERE workspace_id = :workspace_id AND execution_state = 'outcome_unknown' LIMIT :most) u) AS unknown,
  (SELECT count(*) FROM (SELECT 1 FROM actions
    WHERE workspace_id = :workspace_id AND status = 'awaiting_approval'
      AND (expires_ms IS NULL OR expires_ms > :now_ms) LIMIT :most) w) AS waiting,
  (SELECT count(*) FROM (SELECT 1 FROM actions
    WHERE workspace_id = :workspace_id AND status = 'approved' AND executor_tool <> 'workflow_advance'
      AND execution_state <> 'outcome_unknown'
      AND (expires_ms IS NULL OR expires_ms > :now_ms OR execution_state = 'executing') LIMIT :most) a) AS unsent,
  (SELECT count(*) FROM (SELECT 1 FROM actions
    WHERE workspace_id = :workspace_id AND status = 'approved' AND executor_tool <> 'workflow_advance'
      AND execution_state IN ('none', 'retryable')
      AND expires_ms <= :now_ms AND expires_ms > :since_ms LIMIT :most) l) AS lapsed,
  (SELECT count(*) FROM (SELECT 1 FROM actions
    WHERE workspace_id = :workspace_id AND status = 'failed' AND action_id > :since LIMIT :most) f) AS failed,
  (SELECT count(*) FROM (SELECT 1 FROM actions
    WHERE workspace_id = :workspace_id AND executed_ms > :since_ms AND executed_ms IS NOT NULL
      AND executor_tool <> 'workflow_advance' LIMIT :most) s) AS sent

-- name: count_status [sqlite]
-- Count the actions of each section, up to a number.
SELECT
  (SELECT count(*) FROM (SELECT 1 FROM actions INDEXED BY actions_unknown
    WHERE workspace_id = :workspace_id AND execution_state = 'outcome_unknown' LIMIT :most) u) AS unknown,
  (SELECT count(*) FROM (SELECT 1 FROM actions INDEXED BY actions_waiting
    WHERE workspace_id = :workspace_id AND status = 'awaiting_approval'
      AND (expires_ms IS NULL OR expires_ms > :now_ms) LIMIT :most) w) AS waiting,
  (SELECT count(*) FROM (SELECT 1 FROM actions INDEXED BY actions_unsent
    WHERE workspace_id = :workspace_id AND status = 'approved' AND executor_tool <> 'workflow_advance'
      AND execution_state <> 'outcome_unknown'
      AND (expires_ms IS NULL OR expires_ms > :now_ms OR execution_state = 'executing') LIMIT :most) a) AS unsent,
  (SELECT count(*) FROM (SELECT 1 FROM actions INDEXED BY actions_unsent
    WHERE workspace_id = :workspace_id AND status = 'approved' AND executor_tool <> 'workflow_advance'
      AND execution_state IN ('none', 'retryable')
      AND expires_ms <= :now_ms AND expires_ms > :since_ms LIMIT :most) l) AS lapsed,
  (SELECT count(*) FROM (SELECT 1 FROM actions INDEXED BY actions_failed
    WHERE workspace_id = :workspace_id AND status = 'failed' AND action_id > :since LIMIT :most) f) AS failed,
  (SELECT count(*) FROM (SELECT 1 FROM actions INDEXED BY actions_sent
    WHERE workspace_id = :workspace_id AND executed_ms > :since_ms AND executed_ms IS NOT NULL
      AND executor_tool <> 'workflow_advance' LIMIT :most) s) AS sent
