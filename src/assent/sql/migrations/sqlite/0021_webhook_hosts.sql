-- The hosts that a workspace's results may be posted to, with spaces between them: NULL for any public one, empty for none.

ALTER TABLE workspaces ADD COLUMN webhook_hosts TEXT;
