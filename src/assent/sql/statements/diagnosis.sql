-- name: list_tenant_actions
-- List a tenant's actions since a time (ids sort by age), newest first. No tenant means the default one.
SELECT a.*
FROM actions a
WHERE a.workspace_id = :workspace_id AND a.action_id > :since
  AND (a.tenant_id = :tenant_id OR (a.tenant_id IS NULL AND :tenant_id = 'default'))
ORDER BY a.action_id DESC LIMIT :most
