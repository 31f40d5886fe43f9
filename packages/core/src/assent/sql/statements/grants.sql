-- name: insert_client_grant
-- Insert a grant of a person to a client, whose code was not used yet.
INSERT INTO client_grants (workspace_id, key_id, client_hash, jwks_uri, redirect_hash, challenge, asked, scopes, ends_ms)
VALUES (:workspace_id, :key_id, :client_hash, :jwks_uri, :redirect_hash, :challenge, :asked, :scopes, :ends_ms)

-- name: use_client_code
-- Compare and set: of concurrent uses of a code one gets the row.
UPDATE client_grants SET generation = 1 WHERE workspace_id = :workspace_id AND key_id = :key_id AND generation = 0
RETURNING client_hash, redirect_hash, challenge, scopes, ends_ms

-- name: find_client_grant
-- Find which client a grant belongs to, where that client publishes its keys, and what it asked for and may do.
SELECT client_hash, jwks_uri, asked, scopes, salt FROM client_grants
WHERE workspace_id = :workspace_id AND key_id = :key_id

-- name: lock_client_grant
-- Lock a grant, on both stores alike, and read it.
UPDATE client_grants SET generation = generation WHERE workspace_id = :workspace_id AND key_id = :key_id
RETURNING client_hash, scopes, ends_ms, generation, refresh_hash, previous_hash, salt

-- name: set_client_refresh
-- Store the newest refresh token of a grant.
UPDATE client_grants SET generation = :generation, refresh_hash = :refresh_hash, previous_hash = :previous_hash,
  salt = :salt, ends_ms = :ends_ms
WHERE workspace_id = :workspace_id AND key_id = :key_id

-- name: confirm_client_grant
-- Note that the client used its newest access token, so the refresh token before it ends.
UPDATE client_grants SET salt = '' WHERE workspace_id = :workspace_id AND key_id = :key_id

-- name: set_access_token
-- Give the key of a grant its next secret.
UPDATE api_keys SET secret_hash = :secret_hash, expires_ms = :expires_ms, scopes = :scopes
WHERE workspace_id = :workspace_id AND key_id = :key_id

-- name: end_client_keys
-- Revoke the keys of the clients that a person let in, in every workspace.
UPDATE api_keys SET revoked_ms = :now_ms WHERE person_id = :person_id AND client IS NOT NULL AND revoked_ms IS NULL

-- name: end_forgotten_client_keys
-- Revoke the keys of a batch of expired grants.
UPDATE api_keys SET revoked_ms = :now_ms WHERE revoked_ms IS NULL AND client IS NOT NULL AND (workspace_id, key_id) IN (
  SELECT workspace_id, key_id FROM client_grants WHERE ends_ms <= :now_ms ORDER BY ends_ms LIMIT :most)

-- name: delete_ended_client_grants
-- Delete that batch.
DELETE FROM client_grants WHERE (workspace_id, key_id) IN (
  SELECT workspace_id, key_id FROM client_grants WHERE ends_ms <= :now_ms ORDER BY ends_ms LIMIT :most)
RETURNING key_id
