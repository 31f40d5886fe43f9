-- name: insert_run
-- Insert a run with its inputs and outputs.
INSERT INTO runs (workspace_id, run_id, tenant_id, operator, tool, inputs, outputs, status, parent_run_id, created_ms,
                  links_from_ms)
VALUES (:workspace_id, :run_id, :tenant_id, :operator, :tool, :inputs, :outputs, :status, :parent_run_id, :created_ms,
        :links_from_ms)

-- name: find_run
-- Find a run of a workspace.
SELECT run_id, tenant_id, operator, tool, inputs, outputs, status, parent_run_id, created_ms, links_from_ms
FROM runs WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: finish_run
-- Store the result of a run that was started before, once.
UPDATE runs SET outputs = :outputs, status = :status
WHERE workspace_id = :workspace_id AND run_id = :run_id AND status = 'running'
RETURNING run_id

-- name: complete_run
-- Mark a run complete; its result is stored elsewhere.
UPDATE runs SET status = :status WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: end_review_links
-- End the review links made before this time.
UPDATE runs SET links_from_ms = :links_from_ms WHERE workspace_id = :workspace_id AND run_id = :run_id
RETURNING run_id

-- name: insert_asset
-- Insert an asset of a run.
INSERT INTO assets (workspace_id, asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms)
VALUES (:workspace_id, :asset_id, :run_id, :tenant_id, :type, :title, :body, :channel, :metadata, :created_ms)

-- name: list_assets
-- List the assets of a run, in order.
SELECT asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms
FROM assets WHERE workspace_id = :workspace_id AND run_id = :run_id ORDER BY asset_id

-- name: insert_action
-- Insert a staged action.
INSERT INTO actions (workspace_id, action_id, run_id, tenant_id, asset_id, position, version, effect, digest, revision,
                     executor_tool, status, execution_state, preflight, risk, created_ms, expires_ms, schedule_ms,
                     metadata)
VALUES (:workspace_id, :action_id, :run_id, :tenant_id, :asset_id, :position, 1, :effect, :digest, 1,
        :executor_tool, 'awaiting_approval', 'none', :preflight, :risk, :created_ms, :expires_ms, :schedule_ms, :metadata)

-- name: find_action
-- Find an action with its workspace's policy. A foreign and an unknown id both find nothing (C1).
SELECT a.*, p.policy
FROM actions a LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id
WHERE a.workspace_id = :workspace_id AND a.action_id = :action_id

-- name: lock_action [sqlite]
-- Like find_action, for a change: the single writer is the lock. By name, because every selected column costs.
SELECT a.workspace_id, a.action_id, a.run_id, a.tenant_id, a.asset_id, a.position, a.version, a.effect, a.digest,
  a.revision, a.executor_tool, a.status, a.execution_state, a.preflight, a.created_ms, a.expires_ms, a.schedule_ms,
  a.approval, a.rejection, a.attempt, a.executed_ms, a.external_id, a.external_url, a.metadata, p.policy
FROM actions a LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id
WHERE a.workspace_id = :workspace_id AND a.action_id = :action_id

-- name: lock_action [postgres]
-- Like find_action, for a change: the row stays locked until the transaction ends.
SELECT a.workspace_id, a.action_id, a.run_id, a.tenant_id, a.asset_id, a.position, a.version, a.effect, a.digest,
  a.revision, a.executor_tool, a.status, a.execution_state, a.preflight, a.created_ms, a.expires_ms, a.schedule_ms,
  a.approval, a.rejection, a.attempt, a.executed_ms, a.external_id, a.external_url, a.metadata, p.policy
FROM actions a LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id
WHERE a.workspace_id = :workspace_id AND a.action_id = :action_id
FOR UPDATE OF a

-- name: store_action [counted]
-- Compare and set on the version, so that the judged state is the one that is replaced.
UPDATE actions SET version = :version + 1, effect = :effect, digest = :digest, revision = :revision, status = :status,
  execution_state = :execution_state, preflight = :preflight, risk = :risk, expires_ms = :expires_ms,
  schedule_ms = :schedule_ms, approval = :approval, rejection = :rejection, attempt = :attempt, executed_ms = :executed_ms, external_id = :external_id,
  external_url = :external_url, metadata = :metadata
WHERE workspace_id = :workspace_id AND action_id = :action_id AND version = :version
RETURNING version

-- name: list_action_versions [sqlite]
-- List the versions of actions that calls wait for, by primary key: pairs of workspace and action.
SELECT a.workspace_id, a.action_id, a.version FROM json_each(:wanted) w
CROSS JOIN actions a
WHERE a.workspace_id = json_extract(w.value, '$[0]') AND a.action_id = json_extract(w.value, '$[1]')

-- name: list_action_versions [postgres]
-- As on SQLite.
SELECT a.workspace_id, a.action_id, a.version
FROM json_array_elements(CAST(:wanted AS JSON)) w
JOIN actions a ON a.workspace_id = w ->> 0 AND a.action_id = w ->> 1

-- name: list_run_actions
-- List the actions of a run, in the order of staging.
SELECT a.*
FROM actions a WHERE a.workspace_id = :workspace_id AND a.run_id = :run_id ORDER BY a.position

-- name: list_waiting_actions
-- List actions that need a person and have not expired, oldest first, after a cursor.
SELECT a.*
FROM actions a
WHERE a.workspace_id = :workspace_id AND (a.status = 'awaiting_approval' OR a.execution_state = 'outcome_unknown')
  AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms OR a.execution_state = 'outcome_unknown')
  AND a.action_id > :after
ORDER BY a.action_id LIMIT :most

-- name: list_actions
-- List the audit trail of a workspace, oldest first, after a cursor.
SELECT a.*
FROM actions a
WHERE a.workspace_id = :workspace_id AND a.action_id > :after
ORDER BY a.action_id LIMIT :most

-- name: list_actions_in_status
-- Like list_actions, with one status only.
SELECT a.*
FROM actions a
WHERE a.workspace_id = :workspace_id AND a.status = :status AND a.action_id > :after
ORDER BY a.action_id LIMIT :most

-- name: list_approved_actions
-- List approved actions that have not ended, of all workspaces: a start seals them.
SELECT a.* FROM actions a WHERE a.status = 'approved'

-- name: add_approval
-- Record an approval of this revision. A person counts once, with their latest assurance.
INSERT INTO action_approvals (workspace_id, action_id, revision, approver, name, assurance, at_ms)
VALUES (:workspace_id, :action_id, :revision, :approver, :name, :assurance, :at_ms)
ON CONFLICT (workspace_id, action_id, revision, approver) DO UPDATE
  SET name = excluded.name, assurance = excluded.assurance, at_ms = excluded.at_ms

-- name: list_approvals
-- List the approvers of this revision with their assurance.
SELECT approver, name, assurance FROM action_approvals
WHERE workspace_id = :workspace_id AND action_id = :action_id AND revision = :revision

-- name: forget_approvals
-- Delete all approvals of this revision.
DELETE FROM action_approvals
WHERE workspace_id = :workspace_id AND action_id = :action_id AND revision = :revision

-- name: forget_approval
-- Delete one person's approval.
DELETE FROM action_approvals
WHERE workspace_id = :workspace_id AND action_id = :action_id AND revision = :revision AND approver = :approver
RETURNING approver

-- name: put_recipients [sqlite]
-- Store the recipients of an action, and since when they count.
INSERT INTO action_recipients (workspace_id, action_id, address, at_ms, expires_ms)
SELECT :workspace_id, :action_id, value, :at_ms, :expires_ms FROM json_each(:addresses) WHERE true
ON CONFLICT (workspace_id, action_id, address) DO UPDATE
  SET at_ms = excluded.at_ms, expires_ms = excluded.expires_ms

-- name: put_recipients [postgres]
-- As on SQLite.
INSERT INTO action_recipients (workspace_id, action_id, address, at_ms, expires_ms)
SELECT CAST(:workspace_id AS TEXT), CAST(:action_id AS TEXT), value, CAST(:at_ms AS BIGINT), CAST(:expires_ms AS BIGINT)
FROM json_array_elements_text(CAST(:addresses AS JSON)) AS value
ON CONFLICT (workspace_id, action_id, address) DO UPDATE
  SET at_ms = excluded.at_ms, expires_ms = excluded.expires_ms

-- name: forget_recipients
-- Delete the recipients of an action, because it ended or they changed.
DELETE FROM action_recipients WHERE workspace_id = :workspace_id AND action_id = :action_id

-- name: forget_earlier_recipients
-- Delete recipients that are too old to count.
DELETE FROM action_recipients WHERE workspace_id = :workspace_id AND at_ms <= :before_ms

-- name: list_recent_recipients
-- List the recipients of a workspace's other actions since a time, up to a number.
SELECT DISTINCT address FROM action_recipients
WHERE workspace_id = :workspace_id AND at_ms > :since_ms AND action_id <> :but
  AND (expires_ms IS NULL OR expires_ms > :now_ms)
LIMIT :most

-- name: keep_revision
-- Store the content of an action before an edit.
INSERT INTO action_revisions (workspace_id, action_id, revision, effect)
VALUES (:workspace_id, :action_id, :revision, :effect)
ON CONFLICT (workspace_id, action_id, revision) DO NOTHING

-- name: find_revision
-- Find the content of an action at one revision.
SELECT effect FROM action_revisions
WHERE workspace_id = :workspace_id AND action_id = :action_id AND revision = :revision

-- name: list_revisions
-- List the earlier contents of an action, newest last.
SELECT revision, effect FROM action_revisions
WHERE workspace_id = :workspace_id AND action_id = :action_id ORDER BY revision

-- name: set_policy
-- Set the policy of a workspace.
INSERT INTO workspace_policies (workspace_id, policy) VALUES (:workspace_id, :policy)
ON CONFLICT (workspace_id) DO UPDATE SET policy = excluded.policy

-- name: find_policy
-- Find the policy of a workspace, if it is not the default.
SELECT policy FROM workspace_policies WHERE workspace_id = :workspace_id
