-- name: add_vault_key
-- Insert a workspace's vault key, unless it has one.
INSERT INTO vault_keys (workspace_id, sealed_by, sealed, made_ms)
VALUES (:workspace_id, :sealed_by, :sealed, :made_ms)
ON CONFLICT (workspace_id) DO NOTHING

-- name: find_vault_key
-- Find a workspace's encrypted vault key and its master secret's fingerprint.
SELECT sealed_by, sealed FROM vault_keys WHERE workspace_id = :workspace_id

-- name: list_outdated_vault_keys
-- List vault keys encrypted with an earlier master secret, of every workspace.
SELECT workspace_id, sealed_by, sealed FROM vault_keys WHERE sealed_by <> :newest
ORDER BY workspace_id LIMIT :most

-- name: reseal_vault_key
-- Store a vault key encrypted with the newest master secret, unless another server did.
UPDATE vault_keys SET sealed_by = :newest, sealed = :sealed
WHERE workspace_id = :workspace_id AND sealed_by = :before

-- name: put_secret
-- Store an encrypted secret and replace the previous one.
INSERT INTO vault_secrets (workspace_id, holder, field, sealed, changed_ms)
VALUES (:workspace_id, :holder, :field, :sealed, :now_ms)
ON CONFLICT (workspace_id, holder, field) DO UPDATE SET sealed = excluded.sealed, changed_ms = excluded.changed_ms

-- name: list_secrets
-- List the encrypted secrets of a holder.
SELECT field, sealed FROM vault_secrets WHERE workspace_id = :workspace_id AND holder = :holder ORDER BY field

-- name: list_secrets_of_field
-- List the holders that have a secret in a field, without the secrets.
SELECT holder, changed_ms FROM vault_secrets WHERE workspace_id = :workspace_id AND field = :field ORDER BY holder

-- name: delete_secrets
-- Delete the secrets of a holder.
DELETE FROM vault_secrets WHERE workspace_id = :workspace_id AND holder = :holder

-- name: put_connection
-- Insert or replace a connection. Its number increases, so that a caller with an old copy can be detected.
INSERT INTO connections (workspace_id, provider, state, label, accounts, scopes, settings, expires_ms, connected_by,
                         connected_ms, changed_ms, version)
VALUES (:workspace_id, :provider, 'connected', :label, :accounts, :scopes, :settings, :expires_ms, :connected_by,
        :now_ms, :now_ms, 1)
ON CONFLICT (workspace_id, provider) DO UPDATE SET
  state = 'connected', label = excluded.label, accounts = excluded.accounts, scopes = excluded.scopes,
  settings = excluded.settings, expires_ms = excluded.expires_ms, connected_by = excluded.connected_by,
  connected_ms = excluded.connected_ms, changed_ms = excluded.changed_ms, problem = NULL,
  version = connections.version + 1
RETURNING *

-- name: find_connection
-- A workspace's connection to one provider.
SELECT * FROM connections WHERE workspace_id = :workspace_id AND provider = :provider

-- name: list_connections
-- List the present and past connections of a workspace.
SELECT * FROM connections WHERE workspace_id = :workspace_id ORDER BY provider

-- name: end_connection
-- Mark a connection expired, if it still has this number.
UPDATE connections SET state = :state, problem = :problem, changed_ms = :now_ms
WHERE workspace_id = :workspace_id AND provider = :provider AND version = :version AND state <> :state
RETURNING *

-- name: revoke_connection
-- Revoke a connection, whatever its number. The row stays locked until the commit.
UPDATE connections SET state = 'revoked', problem = NULL, changed_ms = :now_ms
WHERE workspace_id = :workspace_id AND provider = :provider AND state <> 'revoked'
RETURNING provider

-- name: choose_accounts
-- Change the accounts or settings of a live connection.
UPDATE connections SET accounts = :accounts, settings = :settings, changed_ms = :now_ms
WHERE workspace_id = :workspace_id AND provider = :provider AND version = :version
RETURNING *

-- name: renew_connection
-- Store fresh tokens of a live connection.
UPDATE connections SET state = 'connected', expires_ms = :expires_ms, problem = NULL, changed_ms = :now_ms
WHERE workspace_id = :workspace_id AND provider = :provider AND version = :version AND state <> 'revoked'
RETURNING *

-- name: count_connections
-- Count connections by state, of every workspace: for the server's operator.
SELECT provider, state, COUNT(*) AS connections FROM connections GROUP BY provider, state ORDER BY provider, state
