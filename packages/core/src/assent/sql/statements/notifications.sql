-- name: insert_notification_target
-- Insert a notification target of a workspace, or of a person.
INSERT INTO notification_targets (workspace_id, target_id, kind, shown, created_ms, person_id)
VALUES (:workspace_id, :target_id, :kind, :shown, :created_ms, :person_id)

-- name: list_notification_targets
-- List the notification targets of a workspace; with a person's id, of this person.
SELECT workspace_id, target_id, kind, shown, created_ms, told_ms, problem, person_id, causes, risks, quiet, remind_ms
FROM notification_targets WHERE workspace_id = :workspace_id AND person_id = :person_id ORDER BY target_id

-- name: list_listeners
-- List who may hear of a change in a workspace. Targets, without a URL: the workspace's own, and those of the people who
-- decide in it; owners hear of a workspace that came from a sign-up only if they joined it. Then the subscriptions that
-- are on.
SELECT t.workspace_id, t.target_id AS listener_id, t.causes AS wants, '' AS url, t.kind FROM notification_targets t
WHERE t.workspace_id = :workspace_id AND t.person_id = ''
UNION ALL
SELECT t.workspace_id, t.target_id, t.causes, '', t.kind FROM notification_targets t
JOIN people p ON p.workspace_id = t.workspace_id AND p.person_id = t.person_id AND p.ended_ms IS NULL
WHERE t.workspace_id = :server AND t.person_id <> '' AND ((p.role = 'owner'
    AND NOT EXISTS (SELECT 1 FROM workspaces w WHERE w.workspace_id = :workspace_id AND w.signed_up = 1))
  OR EXISTS (SELECT 1 FROM memberships m WHERE m.workspace_id = :workspace_id AND m.person_id = p.person_id))
UNION ALL
SELECT s.workspace_id, s.subscription_id, s.events, s.url, '' FROM webhook_subscriptions s
WHERE s.workspace_id = :workspace_id AND s.enabled = 1
ORDER BY 2

-- name: find_notification_target
-- Find one target.
SELECT workspace_id, target_id, kind, shown, created_ms, told_ms, problem, person_id, causes, risks, quiet, remind_ms
FROM notification_targets WHERE workspace_id = :workspace_id AND target_id = :target_id

-- name: delete_notification_target
-- Delete a target of a workspace, or of one person.
DELETE FROM notification_targets
WHERE workspace_id = :workspace_id AND target_id = :target_id AND person_id = :person_id RETURNING shown, kind

-- name: choose_notifications
-- Store what a target wants to hear about.
UPDATE notification_targets SET causes = :causes, risks = :risks, quiet = :quiet, remind_ms = :remind_ms
WHERE workspace_id = :workspace_id AND target_id = :target_id AND person_id = :person_id

-- name: note_notification
-- Store the result of the last notification.
UPDATE notification_targets SET told_ms = :now_ms, problem = :problem
WHERE workspace_id = :workspace_id AND target_id = :target_id

-- name: put_notification_message
-- Remember the last message about a run.
INSERT INTO notification_messages (workspace_id, target_id, run_id, message, sent_ms)
VALUES (:workspace_id, :target_id, :run_id, :message, :now_ms)
ON CONFLICT (workspace_id, target_id, run_id) DO UPDATE SET message = excluded.message, sent_ms = excluded.sent_ms

-- name: find_notification_message
-- Find the last message about a run.
SELECT message FROM notification_messages
WHERE workspace_id = :workspace_id AND target_id = :target_id AND run_id = :run_id

-- name: delete_old_notification_messages
-- Delete a batch of messages that no decision follows any more.
DELETE FROM notification_messages WHERE (workspace_id, target_id, run_id) IN (
  SELECT workspace_id, target_id, run_id FROM notification_messages WHERE sent_ms < :before_ms
  ORDER BY sent_ms LIMIT :most
)
RETURNING run_id

-- name: list_due_reminders
-- List targets with the waiting actions that they are reminded of now: after the target's time, and before expiry. Who
-- may see an action is joined: on shards no inner query may look from reference tables at an outer one.
SELECT home, target_id, workspace_id, action_id, kind FROM (
  SELECT t.workspace_id AS home, t.target_id, a.workspace_id, a.action_id, 'waited' AS kind
  FROM actions a
  JOIN notification_targets t ON t.workspace_id = a.workspace_id OR t.person_id <> ''
  LEFT JOIN people p ON p.workspace_id = t.workspace_id AND p.person_id = t.person_id AND p.ended_ms IS NULL
  LEFT JOIN memberships m ON m.workspace_id = a.workspace_id AND m.person_id = p.person_id
  LEFT JOIN workspaces w ON w.workspace_id = a.workspace_id
  WHERE (t.workspace_id = a.workspace_id OR m.person_id IS NOT NULL
      OR (p.role = 'owner' AND coalesce(w.signed_up, 0) = 0))
    AND a.status = 'awaiting_approval' AND a.held = 0 AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
    AND t.causes LIKE '%reminders%' AND t.risks LIKE '%' || a.risk || '%' AND t.remind_ms > 0 AND a.created_ms + t.remind_ms <= :now_ms
    AND NOT EXISTS (SELECT 1 FROM notification_reminders r WHERE r.workspace_id = a.workspace_id
      AND r.action_id = a.action_id AND r.target_id = t.target_id AND r.kind = 'waited')
  UNION ALL
  SELECT t.workspace_id AS home, t.target_id, a.workspace_id, a.action_id, 'expiry' AS kind
  FROM actions a
  JOIN notification_targets t ON t.workspace_id = a.workspace_id OR t.person_id <> ''
  LEFT JOIN people p ON p.workspace_id = t.workspace_id AND p.person_id = t.person_id AND p.ended_ms IS NULL
  LEFT JOIN memberships m ON m.workspace_id = a.workspace_id AND m.person_id = p.person_id
  LEFT JOIN workspaces w ON w.workspace_id = a.workspace_id
  WHERE (t.workspace_id = a.workspace_id OR m.person_id IS NOT NULL
      OR (p.role = 'owner' AND coalesce(w.signed_up, 0) = 0))
    AND a.status = 'awaiting_approval' AND a.held = 0 AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
    AND t.causes LIKE '%reminders%' AND t.risks LIKE '%' || a.risk || '%' AND t.remind_ms > 0
    AND a.expires_ms - :now_ms <= :lead_ms AND (a.expires_ms - :now_ms) * 4 <= a.expires_ms - a.created_ms
    AND NOT EXISTS (SELECT 1 FROM notification_reminders r WHERE r.workspace_id = a.workspace_id
      AND r.action_id = a.action_id AND r.target_id = t.target_id AND r.kind = 'expiry')
) AS due ORDER BY target_id, action_id, kind LIMIT :most

-- name: note_reminder
-- Remember a reminder, once.
INSERT INTO notification_reminders (workspace_id, target_id, action_id, kind, told_ms)
VALUES (:workspace_id, :target_id, :action_id, :kind, :now_ms)
ON CONFLICT (workspace_id, action_id, target_id, kind) DO NOTHING

-- name: delete_old_reminders
-- Delete a batch of reminders of actions that wait no longer.
DELETE FROM notification_reminders WHERE (workspace_id, action_id, target_id, kind) IN (
  SELECT r.workspace_id, r.action_id, r.target_id, r.kind FROM notification_reminders r
  LEFT JOIN actions a ON a.workspace_id = r.workspace_id AND a.action_id = r.action_id
  WHERE a.action_id IS NULL OR a.status <> 'awaiting_approval' LIMIT :most
)
RETURNING action_id

-- name: find_own_approval
-- Find whether a person approved this revision, while others are still needed.
SELECT at_ms FROM action_approvals
WHERE workspace_id = :workspace_id AND action_id = :action_id AND revision = :revision AND approver = :approver
