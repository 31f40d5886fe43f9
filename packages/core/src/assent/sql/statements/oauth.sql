-- name: insert_oauth_state
-- Insert the state of a consent request.
INSERT INTO oauth_states (workspace_id, state_hash, for_workspace, provider, session_id, person_id, created_ms, expires_ms)
VALUES (:workspace_id, :state_hash, :for_workspace, :provider, :session_id, :person_id, :created_ms, :expires_ms)

-- name: use_oauth_state
-- Use a consent: once, in time, in the browser and by the person that asked.
UPDATE oauth_states SET used_ms = :now_ms
WHERE workspace_id = :workspace_id AND state_hash = :state_hash AND provider = :provider AND session_id = :session_id
  AND person_id = :person_id AND used_ms IS NULL AND expires_ms > :now_ms
RETURNING for_workspace

-- name: delete_old_oauth_states
-- Delete expired states, used or not.
DELETE FROM oauth_states WHERE workspace_id = :workspace_id AND expires_ms <= :now_ms

-- name: take_oauth_turn
-- Take the lease for renewing a connection's tokens, unless a live process has it. A lease that ends later than one
-- taken now was taken before the clock was set back.
INSERT INTO oauth_turns (workspace_id, provider, holder, until_ms)
VALUES (:workspace_id, :provider, :holder, :until_ms)
ON CONFLICT (workspace_id, provider) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms
WHERE oauth_turns.until_ms <= :now_ms OR oauth_turns.until_ms > :until_ms + :apart_ms
RETURNING holder

-- name: end_oauth_turn
-- Release the lease.
DELETE FROM oauth_turns WHERE workspace_id = :workspace_id AND provider = :provider AND holder = :holder
