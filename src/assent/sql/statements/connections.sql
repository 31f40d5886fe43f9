-- name: add_vault_key
-- A workspace's own key, unless it has one.
INSERT INTO vault_keys (workspace_id, sealed_by, sealed, made_ms)
VALUES (:workspace_id, :sealed_by, :sealed, :made_ms)
ON CONFLICT (workspace_id) DO NOTHING

-- name: find_vault_key
-- A workspace's own key, sealed, and by which master secret.
SELECT sealed_by, sealed FROM vault_keys WHERE workspace_id = :workspace_id

-- name: list_outdated_vault_keys
-- Keys that an earlier master secret sealed, of every workspace.
SELECT workspace_id, sealed_by, sealed FROM vault_keys WHERE sealed_by <> :newest
ORDER BY workspace_id LIMIT :most

-- name: reseal_vault_key
-- The same key under the newest master secret, unless another server was faster.
UPDATE vault_keys SET sealed_by = :newest, sealed = :sealed
WHERE workspace_id = :workspace_id AND sealed_by = :before

-- name: put_secret
-- One sealed secret; the one before it is gone.
INSERT INTO vault_secrets (workspace_id, holder, field, sealed, changed_ms)
VALUES (:workspace_id, :holder, :field, :sealed, :now_ms)
ON CONFLICT (workspace_id, holder, field) DO UPDATE SET sealed = excluded.sealed, changed_ms = excluded.changed_ms

-- name: list_secrets
-- The sealed secrets of one holder.
SELECT field, sealed FROM vault_secrets WHERE workspace_id = :workspace_id AND holder = :holder ORDER BY field

-- name: delete_secrets
-- Destroy what a holder had.
DELETE FROM vault_secrets WHERE workspace_id = :workspace_id AND holder = :holder

-- name: put_connection
-- A connection, new or made again; its number says which of them somebody has in hand.
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
-- Everything a workspace is or was connected to.
SELECT * FROM connections WHERE workspace_id = :workspace_id ORDER BY provider

-- name: end_connection
-- It cannot be used any more, as far as this number of it goes.
UPDATE connections SET state = :state, problem = :problem, changed_ms = :now_ms
WHERE workspace_id = :workspace_id AND provider = :provider AND version = :version AND state <> :state
RETURNING *

-- name: revoke_connection
-- Somebody ends it, whichever making of it stands; until the commit nobody else makes it again.
UPDATE connections SET state = 'revoked', problem = NULL, changed_ms = :now_ms
WHERE workspace_id = :workspace_id AND provider = :provider AND state <> 'revoked'
RETURNING provider

-- name: choose_accounts
-- Other accounts or other settings of a connection that stands.
UPDATE connections SET accounts = :accounts, settings = :settings, changed_ms = :now_ms
WHERE workspace_id = :workspace_id AND provider = :provider AND version = :version
RETURNING *

-- name: renew_connection
-- Fresh tokens of a connection that stands.
UPDATE connections SET state = 'connected', expires_ms = :expires_ms, problem = NULL, changed_ms = :now_ms
WHERE workspace_id = :workspace_id AND provider = :provider AND version = :version AND state <> 'revoked'
RETURNING *

-- name: count_connections
-- How many connections are in which state, of every workspace: for the operator of the server.
SELECT provider, state, COUNT(*) AS connections FROM connections GROUP BY provider, state ORDER BY provider, state
