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
                     metadata, view, proposed_by, held)
VALUES (:workspace_id, :action_id, :run_id, :tenant_id, :asset_id, :position, 1, :effect, :digest, 1,
        :executor_tool, 'awaiting_approval', 'none', :preflight, :risk, :created_ms, :expires_ms, :schedule_ms, :metadata,
        :view, :proposed_by, :held)

-- name: count_recent_proposals
-- Count what one caller proposed since a time and waits, at most as much as decides; `heard` as in lock_action.
SELECT count(*) AS waiting,
  EXISTS (SELECT 1 FROM notification_targets t WHERE t.workspace_id IN (:workspace_id, '00000000-0000-7000-8000-000000000000'))
    OR EXISTS (SELECT 1 FROM webhook_subscriptions w WHERE w.workspace_id = :workspace_id) AS heard
FROM (
  SELECT 1 AS one FROM actions
  WHERE workspace_id = :workspace_id AND proposed_by = :proposed_by AND proposed_by <> ''
    AND status = 'awaiting_approval' AND created_ms > :since_ms
  LIMIT :most
) AS recent

-- name: count_held
-- Count what is held of one caller, and since when.
SELECT count(*) AS held, min(created_ms) AS first_ms, max(created_ms) AS last_ms FROM actions
WHERE held = 1 AND workspace_id = :workspace_id AND proposed_by = :proposed_by AND status = 'awaiting_approval'
  AND (expires_ms IS NULL OR expires_ms > :now_ms)

-- name: list_held
-- List what is held of one caller until a time, oldest first.
SELECT a.* FROM actions a
WHERE a.held = 1 AND a.workspace_id = :workspace_id AND a.proposed_by = :proposed_by AND a.status = 'awaiting_approval'
  AND a.created_ms <= :until_ms AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms) AND a.action_id > :after
ORDER BY a.action_id LIMIT :most

-- name: release_held
-- Let what is held of one caller appear in the inbox.
UPDATE actions SET held = 0
WHERE held = 1 AND workspace_id = :workspace_id AND proposed_by = :proposed_by AND created_ms <= :until_ms
RETURNING action_id

-- name: hold_action
-- Change whether people are asked about an action that waits.
UPDATE actions SET held = :held WHERE workspace_id = :workspace_id AND action_id = :action_id

-- name: list_held_groups
-- List who proposed too much at once, in the workspaces of a person.
SELECT g.*, w.name AS workspace_name FROM (
  SELECT workspace_id, proposed_by, count(*) AS held, min(created_ms) AS first_ms, max(created_ms) AS last_ms FROM actions
  WHERE held = 1 AND status = 'awaiting_approval' AND (expires_ms IS NULL OR expires_ms > :now_ms)
    AND ((:everywhere = 1 AND workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
  GROUP BY workspace_id, proposed_by
) AS g LEFT JOIN workspaces w ON w.workspace_id = g.workspace_id
ORDER BY g.first_ms, g.workspace_id, g.proposed_by LIMIT :most

-- name: find_action
-- Find an action with its workspace's policy and freeze. A foreign and an unknown id both find nothing (C1).
SELECT a.*, p.policy, f.workspace_id AS frozen_in, f.agent AS frozen_agent, f.label AS frozen_label, f.since_ms, f.set_by,
  f.why
FROM actions a LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id
LEFT JOIN freezes f ON (f.workspace_id, f.agent) = (
  SELECT z.workspace_id, z.agent FROM freezes z WHERE z.workspace_id IN (:workspace_id, '00000000-0000-7000-8000-000000000000')
    AND z.agent IN ('', a.proposed_by) ORDER BY z.agent, z.workspace_id LIMIT 1)
WHERE a.workspace_id = :workspace_id AND a.action_id = :action_id

-- name: lock_action [sqlite]
-- Like find_action, for a change, with the head of the stream that the change is appended to: the single writer is the
-- lock of both. `heard`: whether anybody may listen, so that `list_listeners` is not asked where nobody does. By name,
-- because every selected column costs.
SELECT a.workspace_id, a.action_id, a.run_id, a.tenant_id, a.asset_id, a.position, a.version, a.effect, a.digest,
  a.revision, a.executor_tool, a.status, a.execution_state, a.preflight, a.created_ms, a.expires_ms, a.schedule_ms,
  a.approval, a.rejection, a.attempt, a.executed_ms, a.external_id, a.external_url, a.metadata, a.view, p.policy,
  s.seq, s.hash, s.updated_at,
  EXISTS (SELECT 1 FROM notification_targets t WHERE t.workspace_id IN (:workspace_id, '00000000-0000-7000-8000-000000000000'))
    OR EXISTS (SELECT 1 FROM webhook_subscriptions w WHERE w.workspace_id = :workspace_id) AS heard
FROM actions a LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id
LEFT JOIN streams s ON s.workspace_id = a.workspace_id AND s.stream_id = a.run_id
WHERE a.workspace_id = :workspace_id AND a.action_id = :action_id

-- name: lock_action [postgres]
-- Like find_action, for a change: the row and the head of its stream stay locked until the transaction ends, the head
-- first, as where it is the lock of a whole run. In a query of its own: an outer join cannot lock it, and a damaged action
-- without a stream must still be found.
SELECT a.workspace_id, a.action_id, a.run_id, a.tenant_id, a.asset_id, a.position, a.version, a.effect, a.digest,
  a.revision, a.executor_tool, a.status, a.execution_state, a.preflight, a.created_ms, a.expires_ms, a.schedule_ms,
  a.approval, a.rejection, a.attempt, a.executed_ms, a.external_id, a.external_url, a.metadata, a.view, p.policy,
  s.seq, s.hash, s.updated_at,
  EXISTS (SELECT 1 FROM notification_targets t WHERE t.workspace_id IN (:workspace_id, '00000000-0000-7000-8000-000000000000'))
    OR EXISTS (SELECT 1 FROM webhook_subscriptions w WHERE w.workspace_id = :workspace_id) AS heard
FROM actions a LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id
LEFT JOIN LATERAL (
  SELECT h.seq, h.hash, h.updated_at FROM streams h
  WHERE h.workspace_id = :workspace_id AND h.stream_id = a.run_id FOR UPDATE
) s ON TRUE
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

-- name: store_claim [counted]
-- As store_action, for an attempt that sends next: only where no freeze is, also of who proposed or asks for it. share_claiming was run before, so that no
-- freeze comes between. The status stays, so the indexes of what is approved stay as they are.
UPDATE actions SET version = :version + 1, execution_state = :execution_state, preflight = :preflight, risk = :risk,
  attempt = :attempt
WHERE workspace_id = :workspace_id AND action_id = :action_id AND version = :version AND NOT EXISTS (
  SELECT 1 FROM freezes f WHERE f.workspace_id IN (:workspace_id, '00000000-0000-7000-8000-000000000000')
    AND f.agent IN ('', actions.proposed_by, :agent))
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
FROM actions a WHERE a.workspace_id = :workspace_id AND a.run_id = :run_id ORDER BY a.position, a.action_id

-- name: list_executed
-- List the newest executed actions of a workspace, of which a person compares those of one type with what waits.
SELECT a.action_id, a.run_id, a.tenant_id, a.effect, a.view, a.metadata, a.executed_ms
FROM actions a
WHERE a.workspace_id = :workspace_id AND a.executed_ms IS NOT NULL AND a.executor_tool <> 'workflow_advance'
ORDER BY a.executed_ms DESC, a.action_id DESC LIMIT :most

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

-- name: list_names_in_use [sqlite]
-- List the names of the newest actions of a workspace that wait or were approved, and of those that were sent or staged
-- since a time. For what is open the key would give the same order and read every action.
SELECT name FROM (
  SELECT json_extract(metadata, '$.name') AS name FROM actions INDEXED BY actions_waiting
  WHERE workspace_id = :workspace_id AND (status = 'awaiting_approval' OR execution_state = 'outcome_unknown')
  ORDER BY action_id DESC LIMIT :most
) AS waiting
UNION ALL
SELECT name FROM (
  SELECT json_extract(metadata, '$.name') AS name FROM actions INDEXED BY actions_unsent
  WHERE workspace_id = :workspace_id AND status = 'approved' AND executor_tool <> 'workflow_advance'
  ORDER BY action_id DESC LIMIT :most
) AS unsent
UNION ALL
SELECT name FROM (
  SELECT json_extract(metadata, '$.name') AS name FROM actions INDEXED BY actions_sent
  WHERE workspace_id = :workspace_id AND executed_ms >= :since_ms AND executor_tool <> 'workflow_advance'
  ORDER BY executed_ms DESC LIMIT :recent
) AS sent
UNION ALL
SELECT name FROM (
  SELECT json_extract(metadata, '$.name') AS name FROM actions WHERE workspace_id = :workspace_id AND action_id >= :since
  ORDER BY action_id DESC LIMIT :recent
) AS staged

-- name: list_names_in_use [postgres]
-- As on SQLite.
SELECT name FROM (
  SELECT CAST(metadata AS JSON) ->> 'name' AS name FROM actions
  WHERE workspace_id = :workspace_id AND (status = 'awaiting_approval' OR execution_state = 'outcome_unknown')
  ORDER BY action_id DESC LIMIT :most
) AS waiting
UNION ALL
SELECT name FROM (
  SELECT CAST(metadata AS JSON) ->> 'name' AS name FROM actions
  WHERE workspace_id = :workspace_id AND status = 'approved' AND executor_tool <> 'workflow_advance'
  ORDER BY action_id DESC LIMIT :most
) AS unsent
UNION ALL
SELECT name FROM (
  SELECT CAST(metadata AS JSON) ->> 'name' AS name FROM actions
  WHERE workspace_id = :workspace_id AND executed_ms >= :since_ms AND executor_tool <> 'workflow_advance'
  ORDER BY executed_ms DESC LIMIT :recent
) AS sent
UNION ALL
SELECT name FROM (
  SELECT CAST(metadata AS JSON) ->> 'name' AS name FROM actions WHERE workspace_id = :workspace_id AND action_id >= :since
  ORDER BY action_id DESC LIMIT :recent
) AS staged

-- name: list_approved_actions
-- List approved actions that have not ended, of all workspaces: a start seals them.
SELECT a.* FROM actions a WHERE a.status = 'approved'

-- name: list_open_actions
-- List the actions that wait for a decision or were approved and have not ended, of all workspaces: a restore holds
-- them.
SELECT a.* FROM actions a WHERE a.status IN ('awaiting_approval', 'approved') ORDER BY a.workspace_id, a.action_id

-- name: count_restored_unknown [sqlite]
-- Count unknown outcomes that a restore left, of all workspaces.
SELECT count(*) AS found FROM actions
WHERE status = 'approved' AND execution_state = 'outcome_unknown' AND json_extract(attempt, '$.restored')

-- name: count_restored_unknown [postgres]
-- As on SQLite.
SELECT count(*) AS found FROM actions
WHERE status = 'approved' AND execution_state = 'outcome_unknown'
  AND CAST(CAST(attempt AS JSON) ->> 'restored' AS BOOLEAN)

-- name: add_approval
-- Record an approval of this revision. A person counts once, with their latest assurance.
INSERT INTO action_approvals (workspace_id, action_id, revision, approver, name, assurance, at_ms)
VALUES (:workspace_id, :action_id, :revision, :approver, :name, :assurance, :at_ms)
ON CONFLICT (workspace_id, action_id, revision, approver) DO UPDATE
  SET name = excluded.name, assurance = excluded.assurance, at_ms = excluded.at_ms

-- name: list_approvals
-- List the approvals of all revisions of an action, oldest first. `stands`: a name without an account, or a person who
-- may still decide in this workspace.
SELECT y.approver, y.name, y.assurance, y.at_ms, y.revision, r.role,
  CASE WHEN y.approver NOT LIKE 'person:%' OR EXISTS (
    SELECT 1 FROM people p
    WHERE p.workspace_id = :people AND p.person_id = substr(y.approver, 8) AND p.ended_ms IS NULL AND (p.role = 'owner'
      OR EXISTS (SELECT 1 FROM memberships m WHERE m.workspace_id = y.workspace_id AND m.person_id = p.person_id))
  ) THEN 1 ELSE 0 END AS stands
FROM action_approvals y
LEFT JOIN people r ON r.workspace_id = :people AND r.person_id = substr(y.approver, 8) AND y.approver LIKE 'person:%'
WHERE y.workspace_id = :workspace_id AND y.action_id = :action_id
ORDER BY y.revision, y.at_ms, y.approver

-- name: lock_person_in [sqlite]
-- Find a person who may still decide in a workspace, who cannot be removed before this transaction ends.
SELECT p.role FROM people p
WHERE p.workspace_id = :people AND p.person_id = :person_id AND p.ended_ms IS NULL AND (p.role = 'owner'
  OR EXISTS (SELECT 1 FROM memberships m WHERE m.workspace_id = :workspace_id AND m.person_id = p.person_id))

-- name: lock_person_in [postgres]
-- As on SQLite, which has one writer.
SELECT p.role FROM people p
WHERE p.workspace_id = :people AND p.person_id = :person_id AND p.ended_ms IS NULL AND (p.role = 'owner'
  OR EXISTS (SELECT 1 FROM memberships m WHERE m.workspace_id = :workspace_id AND m.person_id = p.person_id))
FOR SHARE

-- name: lock_approvers [postgres, skipped on sqlite]
-- Keep the people who approved a revision from being removed or changed before this transaction ends, so that none is
-- counted who was removed before it. SQLite has one writer.
SELECT p.person_id FROM people p
WHERE p.workspace_id = :people AND p.person_id IN (
  SELECT substr(y.approver, 8) FROM action_approvals y
  WHERE y.workspace_id = :workspace_id AND y.action_id = :action_id AND y.revision = :revision
    AND y.approver LIKE 'person:%'
)
ORDER BY p.person_id FOR SHARE

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

-- name: list_tenant_in_status [sqlite]
-- List a tenant's actions in a status since a time (ids sort by age), newest first. None is the default tenant.
SELECT a.* FROM actions a INDEXED BY actions_by_tenant
WHERE a.workspace_id = :workspace_id AND a.tenant_id IS :tenant_id
  AND a.status = :status AND a.action_id > :since
ORDER BY a.action_id DESC LIMIT :most

-- name: list_tenant_in_status [postgres]
-- As on SQLite.
SELECT a.* FROM actions a
WHERE a.workspace_id = :workspace_id AND (a.tenant_id = CAST(:tenant_id AS TEXT) OR (CAST(:tenant_id AS TEXT) IS NULL AND a.tenant_id IS NULL))
  AND a.status = :status AND a.action_id > :since
ORDER BY a.action_id DESC LIMIT :most

-- name: list_tenant_waiting [sqlite]
-- Like list_waiting_actions, of one tenant.
SELECT a.* FROM actions a INDEXED BY actions_by_tenant
WHERE a.workspace_id = :workspace_id AND a.tenant_id IS :tenant_id
  AND a.status IN ('awaiting_approval', 'approved') AND a.action_id > :after
  AND (a.execution_state = 'outcome_unknown'
    OR (a.status = 'awaiting_approval' AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)))
ORDER BY a.action_id LIMIT :most

-- name: list_tenant_waiting [postgres]
-- As on SQLite.
SELECT a.* FROM actions a
WHERE a.workspace_id = :workspace_id AND (a.tenant_id = CAST(:tenant_id AS TEXT) OR (CAST(:tenant_id AS TEXT) IS NULL AND a.tenant_id IS NULL))
  AND a.status IN ('awaiting_approval', 'approved') AND a.action_id > :after
  AND (a.execution_state = 'outcome_unknown'
    OR (a.status = 'awaiting_approval' AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)))
ORDER BY a.action_id LIMIT :most

-- name: list_tenant_activity [sqlite]
-- List a tenant's actions in a status in whose run something happened since a time, newest first, among its latest ones.
SELECT l.action_id, l.is_step FROM (
  SELECT a.action_id, a.run_id, a.executor_tool = 'workflow_advance' AS is_step FROM actions a INDEXED BY actions_by_tenant
  WHERE a.workspace_id = :workspace_id AND a.tenant_id IS :tenant_id AND a.status = :status
  ORDER BY a.action_id DESC LIMIT :most
) AS l JOIN streams s ON s.workspace_id = :workspace_id AND s.stream_id = l.run_id
WHERE s.updated_at > :since_ms ORDER BY l.action_id DESC

-- name: list_tenant_activity [postgres]
-- As on SQLite.
SELECT l.action_id, l.is_step FROM (
  SELECT a.action_id, a.run_id, a.executor_tool = 'workflow_advance' AS is_step FROM actions a
  WHERE a.workspace_id = :workspace_id AND (a.tenant_id = CAST(:tenant_id AS TEXT) OR (CAST(:tenant_id AS TEXT) IS NULL AND a.tenant_id IS NULL)) AND a.status = :status
  ORDER BY a.action_id DESC LIMIT :most
) AS l JOIN streams s ON s.workspace_id = :workspace_id AND s.stream_id = l.run_id
WHERE s.updated_at > :since_ms ORDER BY l.action_id DESC

-- name: list_tenant_actions
-- List a tenant's actions since a time (ids sort by age), newest first. No tenant means the default one.
SELECT a.*
FROM actions a
WHERE a.workspace_id = :workspace_id AND a.action_id > :since
  AND (a.tenant_id = :tenant_id OR (a.tenant_id IS NULL AND :tenant_id = 'default'))
ORDER BY a.action_id DESC LIMIT :most

-- name: store_view
-- Store the view of an action's present revision.
UPDATE actions SET view = :view WHERE workspace_id = :workspace_id AND action_id = :action_id

-- name: keep_revision
-- Store the content of an action before an edit, with its view.
INSERT INTO action_revisions (workspace_id, action_id, revision, effect, view)
VALUES (:workspace_id, :action_id, :revision, :effect, :view)
ON CONFLICT (workspace_id, action_id, revision) DO NOTHING

-- name: find_revision
-- Find the content of an action at one revision.
SELECT effect FROM action_revisions
WHERE workspace_id = :workspace_id AND action_id = :action_id AND revision = :revision

-- name: list_revisions
-- List the earlier contents of an action, newest last.
SELECT revision, effect FROM action_revisions
WHERE workspace_id = :workspace_id AND action_id = :action_id ORDER BY revision

-- name: list_revisions_with_views
-- List the earlier contents of an action with their views.
SELECT revision, effect, view FROM action_revisions
WHERE workspace_id = :workspace_id AND action_id = :action_id ORDER BY revision

-- name: set_policy
-- Set the policy of a workspace.
INSERT INTO workspace_policies (workspace_id, policy) VALUES (:workspace_id, :policy)
ON CONFLICT (workspace_id) DO UPDATE SET policy = excluded.policy

-- name: find_policy
-- Find the policy of a workspace, null for the default one. Always one row.
SELECT p.policy FROM (SELECT 1 AS one) o LEFT JOIN workspace_policies p ON p.workspace_id = :workspace_id

-- name: find_policy_with_freezes
-- The same, with what stops something in the workspace: a row for each freeze, widest first, and at least one.
SELECT p.policy, f.workspace_id AS frozen_in, f.agent AS frozen_agent, f.label AS frozen_label, f.since_ms, f.set_by,
  f.why
FROM (SELECT 1 AS one) o
LEFT JOIN workspace_policies p ON p.workspace_id = :workspace_id
LEFT JOIN freezes f ON f.workspace_id IN (:workspace_id, '00000000-0000-7000-8000-000000000000')
ORDER BY f.agent, f.workspace_id

-- name: add_policy_version
-- Record the next version of a workspace's policy.
INSERT INTO policy_versions (workspace_id, version, digest, source, set_by, at_ms)
SELECT :workspace_id, COALESCE(MAX(version), 0) + 1, :digest, :source, :set_by, :at_ms
FROM policy_versions WHERE workspace_id = :workspace_id
RETURNING version

-- name: find_policy_version
-- Find the latest version of a workspace's policy.
SELECT version, digest, source, set_by AS by, at_ms FROM policy_versions
WHERE workspace_id = :workspace_id ORDER BY version DESC LIMIT 1

-- name: count_waiting_everywhere
-- Count what waits for a person on the whole server by age, and unknown outcomes, for metrics.
SELECT
  sum(CASE WHEN a.execution_state = 'outcome_unknown' THEN 1 ELSE 0 END) AS unknown,
  sum(CASE WHEN w.waits = 1 AND a.created_ms > :after_0 THEN 1 ELSE 0 END) AS age_0,
  sum(CASE WHEN w.waits = 1 AND a.created_ms <= :after_0 AND a.created_ms > :after_1 THEN 1 ELSE 0 END) AS age_1,
  sum(CASE WHEN w.waits = 1 AND a.created_ms <= :after_1 AND a.created_ms > :after_2 THEN 1 ELSE 0 END) AS age_2,
  sum(CASE WHEN w.waits = 1 AND a.created_ms <= :after_2 AND a.created_ms > :after_3 THEN 1 ELSE 0 END) AS age_3,
  sum(CASE WHEN w.waits = 1 AND a.created_ms <= :after_3 THEN 1 ELSE 0 END) AS age_4
FROM actions a JOIN (
  SELECT workspace_id, action_id, CASE WHEN status = 'awaiting_approval'
    AND (expires_ms IS NULL OR expires_ms > :now_ms) THEN 1 ELSE 0 END AS waits
  FROM actions WHERE status = 'awaiting_approval' OR execution_state = 'outcome_unknown'
) AS w ON w.workspace_id = a.workspace_id AND w.action_id = a.action_id

-- name: delete_revisions
-- Delete the earlier contents of an action whose content was erased.
DELETE FROM action_revisions WHERE workspace_id = :workspace_id AND action_id = :action_id

-- name: list_old_actions
-- List decided actions that were staged before a time, whose content is still there, after an id.
SELECT workspace_id, action_id FROM actions
WHERE (workspace_id, action_id) > (:after_workspace, :after_action) AND created_ms < :before_ms
  AND status IN ('rejected', 'executed', 'failed') AND coalesce(executed_ms, created_ms) < :before_ms
ORDER BY workspace_id, action_id LIMIT :most

-- name: erase_asset
-- Replace the draft of an action whose content was erased.
UPDATE assets SET title = :notice, body = :notice, metadata = '{}'
WHERE workspace_id = :workspace_id AND asset_id = :asset_id

-- name: erase_run
-- Empty what a run was asked for and answered, because all its actions were erased.
UPDATE runs SET inputs = '{}', outputs = '{}' WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: list_recent_assets
-- The assets of a workspace, newest first, before a cursor.
SELECT asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms FROM assets
WHERE workspace_id = :workspace_id AND (:before = '' OR asset_id < :before) ORDER BY asset_id DESC LIMIT :most

-- name: find_asset
-- One asset of a workspace.
SELECT asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms FROM assets
WHERE workspace_id = :workspace_id AND asset_id = :asset_id
