-- name: insert_person
-- Insert a person, once; an existing name stays.
INSERT INTO people (workspace_id, person_id, name, role, email, created_ms)
VALUES (:workspace_id, :person_id, :name, :role, :email, :created_ms)
ON CONFLICT (workspace_id, person_id) DO NOTHING
RETURNING person_id

-- name: find_person
-- One person by id.
SELECT person_id, name, role, email, email_vouched, named_by, zone FROM people
WHERE workspace_id = :workspace_id AND person_id = :person_id AND ended_ms IS NULL

-- name: list_people_at
-- List the people with this address: those whose address an owner or issuer vouched for, then the earliest, so that no
-- sign-up in their name takes their place.
SELECT person_id, name, role, email, email_vouched, named_by, zone FROM people
WHERE workspace_id = :workspace_id AND lower(email) = :email AND ended_ms IS NULL
ORDER BY email_vouched DESC, created_ms, person_id LIMIT :most

-- name: list_people
-- List the people who can sign in, with their workspaces and whether they ever signed in.
SELECT p.person_id, p.name, p.role, p.email, p.email_vouched, p.named_by, p.zone, p.created_ms,
  (SELECT count(*) FROM sessions s WHERE s.workspace_id = :workspace_id AND s.person_id = p.person_id
    AND s.ended_ms IS NULL AND s.expires_ms > :now_ms) AS devices,
  (SELECT max(s.created_ms) FROM sessions s
    WHERE s.workspace_id = :workspace_id AND s.person_id = p.person_id) AS signed_in_ms,
  (SELECT max(l.expires_ms) FROM sign_in_links l WHERE l.workspace_id = :workspace_id
    AND l.person_id = p.person_id AND l.used_ms IS NULL AND l.expires_ms > :now_ms) AS invited_until_ms
FROM people p WHERE p.workspace_id = :workspace_id AND p.ended_ms IS NULL ORDER BY p.created_ms, p.person_id

-- name: list_names_in
-- List the names and addresses of the owners and members of a workspace.
SELECT p.name, p.email FROM people p WHERE p.workspace_id = :workspace_id AND p.ended_ms IS NULL AND (p.role = 'owner'
  OR EXISTS (SELECT 1 FROM memberships m WHERE m.workspace_id = :place AND m.person_id = p.person_id))

-- name: list_names_beside
-- List the names and addresses of the people with whom a person shares a workspace. Everyone shares one with the owners,
-- and an owner with all who did not sign up for a workspace of their own.
SELECT p.name, p.email FROM people p
WHERE p.workspace_id = :workspace_id AND p.person_id <> :person_id AND p.ended_ms IS NULL AND (p.role = 'owner'
  OR EXISTS (SELECT 1 FROM memberships m WHERE m.person_id = p.person_id AND (
    (:everywhere = 1 AND m.workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
    OR m.workspace_id IN (SELECT o.workspace_id FROM memberships o WHERE o.person_id = :person_id))))

-- name: lock_person_names [postgres, skipped on sqlite]
-- Let one transaction at a time give a person a name, so that no two take the same one.
SELECT pg_advisory_xact_lock(hashtext('assent names of people'), hashtext(current_schema()))

-- name: find_confirmed_member
-- Find an owner or member of a workspace, or the person who chose it, by a confirmed address: vouched for, or of a person
-- who signed in as one. What an owner chose for themselves is confirmed, too.
SELECT p.person_id FROM people p WHERE p.workspace_id = :workspace_id AND p.ended_ms IS NULL
  AND ((p.person_id = :person_id AND p.role = 'owner') OR (lower(p.email) = :email
    AND (p.email_vouched = 1 OR EXISTS (SELECT 1 FROM sessions s WHERE s.workspace_id = :workspace_id
      AND s.person_id = p.person_id AND s.assurance IN ('person', 'passkey')))
    AND (p.role = 'owner' OR p.person_id = :person_id OR EXISTS (SELECT 1 FROM memberships m
      WHERE m.workspace_id = :place AND m.person_id = p.person_id))))
LIMIT 1

-- name: end_person
-- Remove a person's access; their decisions stay theirs.
UPDATE people SET ended_ms = :now_ms
WHERE workspace_id = :workspace_id AND person_id = :person_id AND ended_ms IS NULL
RETURNING person_id

-- name: add_membership
-- Add a person to a workspace.
INSERT INTO memberships (workspace_id, person_id, created_ms) VALUES (:workspace_id, :person_id, :created_ms)
ON CONFLICT (workspace_id, person_id) DO NOTHING

-- name: end_memberships
-- Remove a person from all workspaces.
DELETE FROM memberships WHERE person_id = :person_id

-- name: find_membership
-- Find whether a person is in a workspace.
SELECT person_id FROM memberships WHERE workspace_id = :workspace_id AND person_id = :person_id

-- name: list_memberships
-- List the members of all workspaces.
SELECT m.person_id, m.workspace_id, w.name FROM memberships m JOIN workspaces w ON w.workspace_id = m.workspace_id
ORDER BY m.person_id, w.name

-- name: list_workspaces_of
-- List the workspaces of a person.
SELECT w.workspace_id, w.name FROM memberships m JOIN workspaces w ON w.workspace_id = m.workspace_id
WHERE m.person_id = :person_id ORDER BY w.created_ms, w.workspace_id

-- name: list_sessions
-- List the browsers in which a person is signed in.
SELECT session_id, device, created_ms, expires_ms FROM sessions
WHERE workspace_id = :workspace_id AND person_id = :person_id AND ended_ms IS NULL AND expires_ms > :now_ms
ORDER BY created_ms DESC, session_id

-- name: rename_person
-- Change the name that signs a person's decisions, and who gave it.
UPDATE people SET name = :name, named_by = :named_by WHERE workspace_id = :workspace_id AND person_id = :person_id
RETURNING person_id

-- name: set_zone
-- Set the time zone in which a person reads times.
UPDATE people SET zone = :zone WHERE workspace_id = :workspace_id AND person_id = :person_id

-- name: insert_sign_in_link
-- Insert an unused link, as its hash.
INSERT INTO sign_in_links (workspace_id, link_id, person_id, secret_hash, created_ms, expires_ms)
VALUES (:workspace_id, :link_id, :person_id, :secret_hash, :created_ms, :expires_ms)

-- name: find_sign_in_link
-- Find a link by its public part, with its person.
SELECT l.secret_hash, l.expires_ms, l.used_ms, l.person_id, p.name, p.role, p.email, p.email_vouched, p.named_by, p.zone
FROM sign_in_links l JOIN people p ON p.workspace_id = l.workspace_id AND p.person_id = l.person_id
WHERE l.workspace_id = :workspace_id AND l.link_id = :link_id AND p.ended_ms IS NULL

-- name: use_sign_in_link
-- Compare and set: of concurrent uses one gets the row.
UPDATE sign_in_links SET used_ms = :now_ms
WHERE workspace_id = :workspace_id AND link_id = :link_id AND used_ms IS NULL AND expires_ms > :now_ms
RETURNING person_id

-- name: end_sign_in_links
-- End the unused links of a person.
UPDATE sign_in_links SET used_ms = :now_ms
WHERE workspace_id = :workspace_id AND person_id = :person_id AND used_ms IS NULL
RETURNING link_id

-- name: insert_session
-- Insert a signed-in browser, as the hash of its cookie.
INSERT INTO sessions
  (workspace_id, session_id, person_id, secret_hash, created_ms, expires_ms, device, assurance, public_key)
VALUES
  (:workspace_id, :session_id, :person_id, :secret_hash, :created_ms, :expires_ms, :device, :assurance, :public_key)

-- name: find_session
-- Find a session by its public part, with its person.
SELECT s.secret_hash, s.expires_ms, s.ended_ms, s.assurance, s.public_key, s.person_id, p.name, p.role, p.email,
       p.email_vouched, p.named_by, p.zone
FROM sessions s JOIN people p ON p.workspace_id = s.workspace_id AND p.person_id = s.person_id
WHERE s.workspace_id = :workspace_id AND s.session_id = :session_id AND p.ended_ms IS NULL

-- name: end_session
-- Sign out in one browser.
UPDATE sessions SET ended_ms = :now_ms
WHERE workspace_id = :workspace_id AND session_id = :session_id AND ended_ms IS NULL
RETURNING session_id

-- name: end_own_session
-- Sign out another browser of the same person.
UPDATE sessions SET ended_ms = :now_ms
WHERE workspace_id = :workspace_id AND session_id = :session_id AND person_id = :person_id AND ended_ms IS NULL
RETURNING session_id

-- name: end_sessions
-- Sign out everywhere.
UPDATE sessions SET ended_ms = :now_ms
WHERE workspace_id = :workspace_id AND person_id = :person_id AND ended_ms IS NULL
RETURNING session_id

-- name: delete_expired_sign_in_links
-- Delete a batch of expired links, used or not.
DELETE FROM sign_in_links WHERE (workspace_id, link_id) IN (
  SELECT workspace_id, link_id FROM sign_in_links WHERE expires_ms <= :now_ms ORDER BY expires_ms LIMIT :most
)
RETURNING link_id

-- name: delete_expired_sessions
-- Delete a batch of expired sessions, ended or not.
DELETE FROM sessions WHERE (workspace_id, session_id) IN (
  SELECT workspace_id, session_id FROM sessions WHERE expires_ms <= :now_ms ORDER BY expires_ms LIMIT :most
)
RETURNING session_id

-- name: use_nonce
-- Use up the nonce of a confirmed form. Of several uses one gets the row.
INSERT INTO used_nonces (workspace_id, nonce_hash, expires_ms) VALUES (:workspace_id, :nonce_hash, :expires_ms)
ON CONFLICT (workspace_id, nonce_hash) DO NOTHING
RETURNING nonce_hash

-- name: delete_expired_nonces
-- Delete a batch of used nonces that are refused by their age.
DELETE FROM used_nonces WHERE (workspace_id, nonce_hash) IN (
  SELECT workspace_id, nonce_hash FROM used_nonces WHERE expires_ms <= :now_ms ORDER BY expires_ms LIMIT :most
)
RETURNING nonce_hash

-- name: insert_passkey
-- Insert a passkey, once: a known one stays whose it is.
INSERT INTO passkeys (workspace_id, credential_id, person_id, public_key, sign_count, label, created_ms)
VALUES (:workspace_id, :credential_id, :person_id, :public_key, :sign_count, :label, :created_ms)
ON CONFLICT (workspace_id, credential_id) DO NOTHING
RETURNING credential_id

-- name: list_passkeys
-- List the passkeys of a person.
SELECT credential_id, person_id, public_key, sign_count, label, created_ms, used_ms FROM passkeys
WHERE workspace_id = :workspace_id AND person_id = :person_id ORDER BY created_ms, credential_id

-- name: find_passkey
-- Find a passkey by its id, with its person.
SELECT k.credential_id, k.public_key, k.sign_count, k.label, k.created_ms, k.used_ms,
  k.person_id, p.name, p.role, p.email, p.email_vouched, p.named_by, p.zone
FROM passkeys k JOIN people p ON p.workspace_id = k.workspace_id AND p.person_id = k.person_id
WHERE k.workspace_id = :workspace_id AND k.credential_id = :credential_id AND p.ended_ms IS NULL

-- name: note_passkey_use
-- Store the count that a passkey reported with its last use.
UPDATE passkeys SET sign_count = :sign_count, used_ms = :now_ms
WHERE workspace_id = :workspace_id AND credential_id = :credential_id AND person_id = :person_id
  AND (sign_count < :sign_count OR (sign_count = 0 AND :sign_count = 0))
RETURNING credential_id

-- name: delete_passkey
-- Delete one of a person's own passkeys.
DELETE FROM passkeys WHERE workspace_id = :workspace_id AND credential_id = :credential_id AND person_id = :person_id
RETURNING label

-- name: delete_passkeys
-- Delete all passkeys of a person.
DELETE FROM passkeys WHERE workspace_id = :workspace_id AND person_id = :person_id

-- name: find_run_anywhere
-- Find the workspace of a run, for the server's owner only: other callers name the workspace.
SELECT r.workspace_id FROM runs r WHERE r.run_id = :run_id

-- name: list_inbox
-- List a page of the actions that a person may decide, the most severe first, with the event that says who prepared
-- them. Selected in the index, so that other pages are not read. Actions that this person approved wait for others.
WITH picked AS (
  SELECT workspace_id, action_id FROM actions
  WHERE status = 'awaiting_approval' AND held = 0 AND (expires_ms IS NULL OR expires_ms > :now_ms)
    AND ((:everywhere = 1 AND workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
    AND (:workspace = '' OR workspace_id = :workspace)
    AND (:tenant = '' OR coalesce(tenant_id, 'default') = :tenant) AND (:risk < 0 OR risk = :risk)
    AND (expires_ms <= :until_ms OR :until_ms = 0)
    AND NOT EXISTS (SELECT 1 FROM action_approvals y WHERE y.workspace_id = actions.workspace_id
      AND y.action_id = actions.action_id AND y.revision = actions.revision AND y.approver = :approver)
  ORDER BY risk, expires_ms, action_id LIMIT :most OFFSET :skipped
)
SELECT a.*, w.name AS workspace_name, p.policy, e.body AS prepared, r.inputs AS run_inputs
FROM picked
JOIN actions a ON a.workspace_id = picked.workspace_id AND a.action_id = picked.action_id
LEFT JOIN workspaces w ON w.workspace_id = a.workspace_id
LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id
LEFT JOIN runs r ON r.workspace_id = a.workspace_id AND r.run_id = a.run_id
LEFT JOIN events e ON e.workspace_id = a.workspace_id AND e.stream_id = a.run_id AND e.seq = 1
ORDER BY a.risk, a.expires_ms, a.action_id

-- name: count_inbox
-- Count them all by risk, and how many of them expire soon.
SELECT risk, count(*) AS waiting, sum(CASE WHEN expires_ms <= :soon_ms THEN 1 ELSE 0 END) AS soon FROM actions
WHERE status = 'awaiting_approval' AND held = 0 AND (expires_ms IS NULL OR expires_ms > :now_ms)
  AND ((:everywhere = 1 AND workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
  AND (:workspace = '' OR workspace_id = :workspace)
    AND (:tenant = '' OR coalesce(tenant_id, 'default') = :tenant)
  AND NOT EXISTS (SELECT 1 FROM action_approvals y WHERE y.workspace_id = actions.workspace_id
    AND y.action_id = actions.action_id AND y.revision = actions.revision AND y.approver = :approver)
GROUP BY risk

-- name: list_inbox_openings
-- List the beginning of the effect of the first of them, which names the channel. Bounded, because it reads the rows.
SELECT substr(effect, 1, 48) AS opening FROM actions
WHERE status = 'awaiting_approval' AND held = 0 AND (expires_ms IS NULL OR expires_ms > :now_ms)
  AND ((:everywhere = 1 AND workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
  AND (:workspace = '' OR workspace_id = :workspace)
    AND (:tenant = '' OR coalesce(tenant_id, 'default') = :tenant)
  AND NOT EXISTS (SELECT 1 FROM action_approvals y WHERE y.workspace_id = actions.workspace_id
    AND y.action_id = actions.action_id AND y.revision = actions.revision AND y.approver = :approver)
ORDER BY risk, expires_ms, action_id LIMIT :most

-- name: search_inbox
-- Like list_inbox, for the actions that a search found or a channel. Reads as many waiting actions as `searched` says, after the first ones, so that
-- its work does not grow with what waits. `found` is the total among them.
WITH looked AS (
  SELECT workspace_id, action_id FROM actions
  WHERE status = 'awaiting_approval' AND held = 0 AND (expires_ms IS NULL OR expires_ms > :now_ms)
    AND ((:everywhere = 1 AND workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
    AND (:workspace = '' OR workspace_id = :workspace)
    AND (:tenant = '' OR coalesce(tenant_id, 'default') = :tenant) AND (:risk < 0 OR risk = :risk)
    AND (expires_ms <= :until_ms OR :until_ms = 0)
    AND (:everything = 1 OR action_id IN (SELECT f.key FROM json_each(:wanted) f))
    AND NOT EXISTS (SELECT 1 FROM action_approvals y WHERE y.workspace_id = actions.workspace_id
      AND y.action_id = actions.action_id AND y.revision = actions.revision AND y.approver = :approver)
  ORDER BY risk, expires_ms, action_id LIMIT :searched OFFSET :first
), picked AS (
  SELECT c.workspace_id, c.action_id, count(*) OVER () AS found
  FROM looked l
  JOIN actions c ON c.workspace_id = l.workspace_id AND c.action_id = l.action_id
  WHERE c.effect LIKE :opening ESCAPE '!'
  ORDER BY c.risk, c.expires_ms, c.action_id LIMIT :most OFFSET :skipped
)
SELECT a.*, w.name AS workspace_name, p.policy, e.body AS prepared, r.inputs AS run_inputs, picked.found
FROM picked
JOIN actions a ON a.workspace_id = picked.workspace_id AND a.action_id = picked.action_id
LEFT JOIN workspaces w ON w.workspace_id = a.workspace_id
LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id
LEFT JOIN runs r ON r.workspace_id = a.workspace_id AND r.run_id = a.run_id
LEFT JOIN events e ON e.workspace_id = a.workspace_id AND e.stream_id = a.run_id AND e.seq = 1
ORDER BY a.risk, a.expires_ms, a.action_id

-- name: list_unknown_for
-- List actions with an unknown outcome that a person may resolve.
WITH picked AS (
  SELECT workspace_id, action_id FROM actions
  WHERE execution_state = 'outcome_unknown'
    AND ((:everywhere = 1 AND workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
  ORDER BY action_id LIMIT :most
)
SELECT a.*, w.name AS workspace_name, p.policy, e.body AS prepared, r.inputs AS run_inputs
FROM picked
JOIN actions a ON a.workspace_id = picked.workspace_id AND a.action_id = picked.action_id
LEFT JOIN workspaces w ON w.workspace_id = a.workspace_id
LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id
LEFT JOIN runs r ON r.workspace_id = a.workspace_id AND r.run_id = a.run_id
LEFT JOIN events e ON e.workspace_id = a.workspace_id AND e.stream_id = a.run_id AND e.seq = 1
ORDER BY a.action_id

-- name: list_stopped_for
-- List approved actions that were not sent, newest first: refused for good in the last days, or waiting without a job
-- that sends them. Workflow steps are never sent. Each kind is selected in the order of its own index. What was only
-- approved, and can be sent, is with its agent.
WITH unsent AS (
  SELECT workspace_id, action_id FROM actions
  WHERE status = 'approved' AND executor_tool <> 'workflow_advance' AND execution_state IN ('none', 'retryable')
    AND (schedule_ms IS NULL OR schedule_ms <= :now_ms) AND (expires_ms IS NULL OR expires_ms > :now_ms)
    AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.workspace_id = actions.workspace_id AND j.kind = 'send_approved_action'
      AND j.key >= actions.action_id || ':' AND j.key < actions.action_id || ';' AND j.state IN ('waiting', 'running')
      AND j.last_error IS NULL)
    AND ((:everywhere = 1 AND workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
  ORDER BY action_id DESC LIMIT :most
), failed AS (
  SELECT workspace_id, action_id FROM actions
  WHERE status = 'failed' AND created_ms >= :since_ms
    AND ((:everywhere = 1 AND workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
  ORDER BY created_ms DESC, action_id DESC LIMIT :most
), picked AS (
  SELECT workspace_id, action_id FROM unsent UNION ALL SELECT workspace_id, action_id FROM failed
  ORDER BY action_id DESC LIMIT :most
)
SELECT a.*, w.name AS workspace_name, p.policy, e.body AS prepared, r.inputs AS run_inputs,
  CASE WHEN a.status = 'approved' AND a.execution_state = 'none' AND a.effect NOT LIKE '%"connector":"manual"%'
      AND a.preflight NOT LIKE '%"connectorReady":false%' AND NOT EXISTS (SELECT 1 FROM jobs j
        WHERE j.workspace_id = a.workspace_id AND j.kind = 'send_approved_action'
        AND j.key >= a.action_id || ':' AND j.key < a.action_id || ';' AND j.last_error IS NOT NULL)
    THEN 1 ELSE 0 END AS with_agent
FROM picked
JOIN actions a ON a.workspace_id = picked.workspace_id AND a.action_id = picked.action_id
LEFT JOIN workspaces w ON w.workspace_id = a.workspace_id
LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id
LEFT JOIN runs r ON r.workspace_id = a.workspace_id AND r.run_id = a.run_id
LEFT JOIN events e ON e.workspace_id = a.workspace_id AND e.stream_id = a.run_id AND e.seq = 1
ORDER BY a.action_id DESC

-- name: list_with_agent_for
-- List the waiting actions whose agents are asked for changes, newest first.
WITH picked AS (
  SELECT workspace_id, action_id FROM actions
  WHERE held = 2 AND status = 'awaiting_approval' AND (expires_ms IS NULL OR expires_ms > :now_ms)
    AND ((:everywhere = 1 AND workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
  ORDER BY action_id DESC LIMIT :most
)
SELECT a.*, w.name AS workspace_name, p.policy, e.body AS prepared, r.inputs AS run_inputs
FROM picked
JOIN actions a ON a.workspace_id = picked.workspace_id AND a.action_id = picked.action_id
LEFT JOIN workspaces w ON w.workspace_id = a.workspace_id
LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id
LEFT JOIN runs r ON r.workspace_id = a.workspace_id AND r.run_id = a.run_id
LEFT JOIN events e ON e.workspace_id = a.workspace_id AND e.stream_id = a.run_id AND e.seq = 1
ORDER BY a.action_id DESC

-- name: list_done_for
-- List the actions sent lately, newest first.
WITH picked AS (
  SELECT workspace_id, action_id FROM actions
  WHERE executed_ms IS NOT NULL AND executed_ms >= :since_ms
    AND ((:everywhere = 1 AND workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
  ORDER BY executed_ms DESC, action_id LIMIT :most
)
SELECT a.*, w.name AS workspace_name, p.policy, NULL AS prepared, NULL AS run_inputs
FROM picked
JOIN actions a ON a.workspace_id = picked.workspace_id AND a.action_id = picked.action_id
LEFT JOIN workspaces w ON w.workspace_id = a.workspace_id
LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id
ORDER BY a.executed_ms DESC, a.action_id

-- name: list_scheduled_for
-- List the approved actions that go out at a later time, in any order.
WITH picked AS (
  SELECT workspace_id, action_id FROM actions
  WHERE status = 'approved' AND executor_tool <> 'workflow_advance' AND execution_state = 'none' AND schedule_ms > :now_ms
    AND ((:everywhere = 1 AND workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
  ORDER BY action_id DESC LIMIT :most
)
SELECT a.*, w.name AS workspace_name, p.policy, NULL AS prepared, NULL AS run_inputs
FROM picked
JOIN actions a ON a.workspace_id = picked.workspace_id AND a.action_id = picked.action_id
LEFT JOIN workspaces w ON w.workspace_id = a.workspace_id
LEFT JOIN workspace_policies p ON p.workspace_id = a.workspace_id

-- name: find_action_anywhere
-- Find the workspace of an action; the caller then checks access.
SELECT workspace_id FROM actions WHERE action_id = :action_id

-- name: count_waiting_for
-- Count the actions that need a person in their workspaces: not approved by them, outcome unknown, or approved and
-- stuck. What is held of one caller counts as one. Sign-ups that ask an owner count, too.
SELECT (
  SELECT count(*) FROM (
    SELECT a.workspace_id, a.proposed_by FROM actions a
    WHERE a.held = 1 AND a.status = 'awaiting_approval' AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
      AND ((:everywhere = 1 AND a.workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR a.workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
    GROUP BY a.workspace_id, a.proposed_by
  ) AS held
) + (
  SELECT count(*) FROM actions a
  WHERE ((:everywhere = 1 AND a.workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR a.workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
    AND (a.status = 'awaiting_approval' OR a.execution_state = 'outcome_unknown')
    AND (a.held = 0 OR a.execution_state = 'outcome_unknown')
    AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms OR a.execution_state = 'outcome_unknown')
    AND NOT EXISTS (SELECT 1 FROM action_approvals y WHERE y.workspace_id = a.workspace_id
      AND y.action_id = a.action_id AND y.revision = a.revision AND y.approver = :approver
      AND a.status = 'awaiting_approval')
) + (
  SELECT count(*) FROM actions a
  WHERE a.status = 'approved' AND a.executor_tool <> 'workflow_advance' AND a.execution_state IN ('none', 'retryable')
    AND (a.schedule_ms IS NULL OR a.schedule_ms <= :now_ms) AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
    AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.workspace_id = a.workspace_id AND j.kind = 'send_approved_action'
      AND j.key >= a.action_id || ':' AND j.key < a.action_id || ';' AND j.state IN ('waiting', 'running')
      AND j.last_error IS NULL)
    AND NOT (a.execution_state = 'none' AND a.effect NOT LIKE '%"connector":"manual"%'
      AND a.preflight NOT LIKE '%"connectorReady":false%' AND NOT EXISTS (SELECT 1 FROM jobs j
        WHERE j.workspace_id = a.workspace_id AND j.kind = 'send_approved_action'
        AND j.key >= a.action_id || ':' AND j.key < a.action_id || ';' AND j.last_error IS NOT NULL))
    AND ((:everywhere = 1 AND a.workspace_id NOT IN (SELECT w.workspace_id FROM workspaces w WHERE w.signed_up = 1))
      OR a.workspace_id IN (SELECT m.workspace_id FROM memberships m WHERE m.person_id = :person_id))
) + (
  SELECT count(*) FROM signup_links s WHERE :everywhere = 1
    AND s.claimed_ms IS NULL AND s.decision = '' AND s.expires_ms > :now_ms
) AS waiting

-- name: find_send_job
-- Find the last job that sends an action: its keys begin with the action's id.
SELECT key, state, due_ms, last_error FROM jobs
WHERE workspace_id = :workspace_id AND kind = :kind AND key >= :first_key AND key < :after_keys
ORDER BY created_ms DESC, key DESC LIMIT 1

-- name: list_send_jobs [sqlite]
-- List when the open jobs that send actions are due, by the beginnings of their keys. One that waits for a person is left
-- out.
SELECT w.value AS beginning, min(j.due_ms) AS due_ms FROM json_each(:wanted) w CROSS JOIN jobs j
WHERE j.workspace_id = :workspace_id AND j.kind = :kind AND j.key >= w.value || ':' AND j.key < w.value || ';'
  AND j.state IN ('waiting', 'running') AND j.last_error IS NULL
GROUP BY w.value

-- name: list_send_jobs [postgres]
-- As on SQLite.
SELECT w.value AS beginning, min(j.due_ms) AS due_ms FROM json_array_elements_text(CAST(:wanted AS JSON)) w
JOIN jobs j ON j.key >= w.value || ':' AND j.key < w.value || ';'
WHERE j.workspace_id = :workspace_id AND j.kind = :kind
  AND j.state IN ('waiting', 'running') AND j.last_error IS NULL
GROUP BY w.value

-- name: list_person_names
-- List the people who can sign in or are invited, for a policy that names them.
SELECT person_id, email FROM people WHERE workspace_id = :workspace_id AND ended_ms IS NULL
