-- name: insert_workspace
-- Insert a workspace; an existing id changes nothing and returns no row.
INSERT INTO workspaces (workspace_id, name, email, created_ms, signed_up)
VALUES (:workspace_id, :name, :email, :created_ms, :signed_up)
ON CONFLICT (workspace_id) DO NOTHING
RETURNING workspace_id

-- name: find_workspace
-- One workspace by its id.
SELECT workspace_id, name, email, created_ms FROM workspaces WHERE workspace_id = :workspace_id

-- name: list_workspaces
-- List every workspace, oldest first: for the server's operator, never for a caller.
SELECT workspace_id, name, email, created_ms FROM workspaces ORDER BY created_ms, workspace_id

-- name: lock_workspace_names [postgres, skipped on sqlite]
-- Let one transaction at a time choose the name of a workspace, so that no two take the same one.
SELECT pg_advisory_xact_lock(hashtext('assent workspace names'), hashtext(current_schema()))

-- name: rename_workspace
-- Change the name of a workspace.
UPDATE workspaces SET name = :name WHERE workspace_id = :workspace_id

-- name: find_brand
-- Find the brand of a workspace without its logo, with the workspace's name.
SELECT w.workspace_id, w.name, coalesce(b.accent, '') AS accent, coalesce(b.logo_digest, '') AS logo_digest
FROM workspaces w LEFT JOIN workspace_brands b ON b.workspace_id = w.workspace_id
WHERE w.workspace_id = :workspace_id

-- name: find_brand_logo
-- A logo of a workspace by its digest.
SELECT logo_digest, media_type, content FROM brand_logos
WHERE workspace_id = :workspace_id AND logo_digest = :logo_digest

-- name: set_brand
-- Set the colour and the logo of a workspace.
INSERT INTO workspace_brands (workspace_id, accent, logo_digest) VALUES (:workspace_id, :accent, :logo_digest)
ON CONFLICT (workspace_id) DO UPDATE SET accent = excluded.accent, logo_digest = excluded.logo_digest

-- name: insert_brand_logo
-- Insert a logo.
INSERT INTO brand_logos (workspace_id, logo_digest, media_type, content)
VALUES (:workspace_id, :logo_digest, :media_type, :content)
ON CONFLICT (workspace_id, logo_digest) DO NOTHING

-- name: delete_unused_logos
-- Delete the logos of a workspace that it does not use.
DELETE FROM brand_logos WHERE workspace_id = :workspace_id
  AND logo_digest NOT IN (SELECT logo_digest FROM workspace_brands WHERE workspace_id = :workspace_id)

-- name: note_caller
-- Store when a caller was last here.
INSERT INTO callers_seen (workspace_id, caller, seen_ms) VALUES (:workspace_id, :caller, :seen_ms)
ON CONFLICT (workspace_id, caller) DO UPDATE SET seen_ms = excluded.seen_ms
WHERE callers_seen.seen_ms < excluded.seen_ms

-- name: list_callers
-- When each caller of a workspace was last here.
SELECT caller, seen_ms FROM callers_seen WHERE workspace_id = :workspace_id

-- name: freeze
-- Stop sending in a workspace, everywhere, or for one agent; a freeze that is there stays as it is.
INSERT INTO freezes (workspace_id, agent, label, since_ms, set_by, why)
VALUES (:workspace_id, :agent, :label, :since_ms, :set_by, :why)
ON CONFLICT (workspace_id, agent) DO NOTHING
RETURNING workspace_id

-- name: unfreeze
-- End a freeze; returns no row if there is none.
DELETE FROM freezes WHERE workspace_id = :workspace_id AND agent = :agent RETURNING since_ms

-- name: find_freezes
-- The freezes that stop something in a workspace: that of the server, its own, those of its agents.
SELECT workspace_id, agent, label, since_ms, set_by, why FROM freezes
WHERE workspace_id IN (:workspace_id, '00000000-0000-7000-8000-000000000000') ORDER BY agent, workspace_id

-- name: list_freezes
-- Every freeze of the server, for its operator.
SELECT workspace_id, agent, label, since_ms, set_by, why FROM freezes ORDER BY workspace_id, agent

-- name: share_claiming [postgres, skipped on sqlite]
-- Make a freeze wait for this transaction, which claims. CASE fixes the order: the lock of the server, then that of the
-- workspace. Both queue fairly, so that claims without a pause do not keep a freeze waiting.
SELECT CASE WHEN pg_advisory_xact_lock_shared(hashtextextended('00000000-0000-7000-8000-000000000000', 0)) IS NOT NULL
  THEN pg_advisory_xact_lock_shared(hashtextextended(:workspace_id, 0)) IS NOT NULL END AS held

-- name: await_claims [postgres, skipped on sqlite]
-- Wait until every claim that began before has ended: of a workspace, or of all for the id of the server.
SELECT CASE WHEN CAST(:workspace_id AS TEXT) = '00000000-0000-7000-8000-000000000000'
  THEN pg_advisory_xact_lock(hashtextextended('00000000-0000-7000-8000-000000000000', 0)) IS NOT NULL
  WHEN pg_advisory_xact_lock_shared(hashtextextended('00000000-0000-7000-8000-000000000000', 0)) IS NOT NULL
  THEN pg_advisory_xact_lock(hashtextextended(:workspace_id, 0)) IS NOT NULL END AS held

-- name: count_executing [sqlite]
-- Count what a connector or an agent has in hand, in one workspace or in all: first sends, and repetitions under a lease.
SELECT count(*) AS executing FROM actions
WHERE status = 'approved' AND executor_tool <> 'workflow_advance' AND (execution_state = 'executing'
    OR (execution_state = 'outcome_unknown' AND json_extract(attempt, '$.lease_until_ms') > :now_ms))
  AND (:everywhere = 1 OR workspace_id = :workspace_id)

-- name: count_executing [postgres]
-- As on SQLite.
SELECT count(*) AS executing FROM actions
WHERE status = 'approved' AND executor_tool <> 'workflow_advance' AND (execution_state = 'executing'
    OR (execution_state = 'outcome_unknown' AND CAST(CAST(attempt AS JSON) ->> 'lease_until_ms' AS BIGINT) > :now_ms))
  AND (:everywhere = 1 OR workspace_id = :workspace_id)

-- name: find_webhook_hosts
-- Find the hosts that a workspace allows for webhooks; null for any public one.
SELECT webhook_hosts FROM workspaces WHERE workspace_id = :workspace_id

-- name: set_webhook_hosts
-- Set or remove that limit.
UPDATE workspaces SET webhook_hosts = :webhook_hosts WHERE workspace_id = :workspace_id
RETURNING workspace_id

-- name: set_calls_per_minute
-- Set or remove the rate of a workspace.
UPDATE workspaces SET calls_per_minute = :calls_per_minute WHERE workspace_id = :workspace_id
RETURNING workspace_id

-- name: list_tenants
-- List a page of a workspace's tenants in the order of their ids, after a cursor.
SELECT tenant_id, name, created_ms FROM tenants WHERE workspace_id = :workspace_id AND tenant_id > :after
ORDER BY tenant_id LIMIT :most

-- name: find_tenant
-- Find a tenant of a workspace.
SELECT tenant_id, name, created_ms FROM tenants WHERE workspace_id = :workspace_id AND tenant_id = :tenant_id

-- name: insert_tenant
-- Insert a tenant of a workspace, once.
INSERT INTO tenants (workspace_id, tenant_id, name, created_ms)
VALUES (:workspace_id, :tenant_id, :name, :created_ms)
ON CONFLICT (workspace_id, tenant_id) DO NOTHING

-- name: insert_api_key
-- Insert a key as its hash; the key itself is not stored.
INSERT INTO api_keys (workspace_id, key_id, mode, secret_hash, label, scopes, created_ms, expires_ms, first_key_id,
  toolsets, person_id, client_dialog, client)
VALUES (:workspace_id, :key_id, :mode, :secret_hash, :label, :scopes, :created_ms, :expires_ms, :first_key_id,
  :toolsets, :person_id, :client_dialog, :client)

-- name: find_api_key
-- Find a key by its public part, with its workspace's name (null if the workspace is gone).
SELECT k.mode, k.secret_hash, k.scopes, k.expires_ms, k.revoked_ms, k.first_key_id, k.toolsets, k.label, k.person_id,
  k.client_dialog, k.client, w.name AS workspace_name, w.calls_per_minute
FROM api_keys k LEFT JOIN workspaces w ON w.workspace_id = k.workspace_id
WHERE k.workspace_id = :workspace_id AND k.key_id = :key_id

-- name: list_api_keys
-- List the keys of a workspace without secrets, oldest first.
SELECT key_id, mode, label, scopes, toolsets, client_dialog, created_ms, expires_ms, revoked_ms, client, first_key_id,
  person_id FROM api_keys WHERE workspace_id = :workspace_id ORDER BY created_ms, key_id

-- name: revoke_api_key
-- Revoke a key. Returns no row if it is unknown or already revoked.
UPDATE api_keys SET revoked_ms = :now_ms
WHERE workspace_id = :workspace_id AND key_id = :key_id AND revoked_ms IS NULL
RETURNING mode, label, scopes, expires_ms, first_key_id, toolsets, person_id, client_dialog

-- name: find_active_api_key [sqlite]
-- An active key with all that its successor gets. The single writer is the lock.
SELECT mode, label, scopes, expires_ms, first_key_id, toolsets, person_id, client_dialog FROM api_keys
WHERE workspace_id = :workspace_id AND key_id = :key_id AND revoked_ms IS NULL
  AND (expires_ms IS NULL OR expires_ms > :now_ms)

-- name: find_active_api_key [postgres]
-- As on SQLite, locked.
SELECT mode, label, scopes, expires_ms, first_key_id, toolsets, person_id, client_dialog FROM api_keys
WHERE workspace_id = :workspace_id AND key_id = :key_id AND revoked_ms IS NULL
  AND (expires_ms IS NULL OR expires_ms > :now_ms)
FOR UPDATE

-- name: let_api_key_expire
-- Let a key end at a time.
UPDATE api_keys SET expires_ms = :ends_ms WHERE workspace_id = :workspace_id AND key_id = :key_id

-- name: insert_signup_link
-- Insert an unclaimed sign-up link.
INSERT INTO signup_links (workspace_id, secret_hash, email, name, asked_from, created_ms, expires_ms)
VALUES (:workspace_id, :secret_hash, :email, :name, :asked_from, :created_ms, :expires_ms)

-- name: find_signup_link
-- Find a link by its public part.
SELECT secret_hash, mail_hash, email, name, decision, created_ms, expires_ms, claimed_ms FROM signup_links
WHERE workspace_id = :workspace_id

-- name: list_open_signups
-- List the requests that were neither claimed nor rejected, the oldest first. Their number is limited.
SELECT workspace_id, email, name, asked_from, mail_hash, decision, created_ms, expires_ms FROM signup_links
WHERE claimed_ms IS NULL AND decision <> 'rejected' AND expires_ms > :now_ms ORDER BY created_ms, workspace_id

-- name: mail_signup_link
-- Compare and set: one mail for each request.
UPDATE signup_links SET mail_hash = :mail_hash
WHERE workspace_id = :workspace_id AND mail_hash IS NULL AND claimed_ms IS NULL AND decision = ''
RETURNING workspace_id

-- name: forget_mailed_signup_link
-- The mail was not sent.
UPDATE signup_links SET mail_hash = NULL WHERE workspace_id = :workspace_id

-- name: decide_signup_link
-- Compare and set: admit or reject a request that waits.
UPDATE signup_links SET decision = :decision
WHERE workspace_id = :workspace_id AND decision = '' AND claimed_ms IS NULL AND expires_ms > :now_ms
RETURNING workspace_id

-- name: claim_signup_link
-- Compare and set: of concurrent clicks one gets the row.
UPDATE signup_links SET claimed_ms = :now_ms
WHERE workspace_id = :workspace_id AND claimed_ms IS NULL AND decision <> 'rejected' AND expires_ms > :now_ms
RETURNING email, name

-- name: delete_expired_signup_links
-- Delete a batch of expired links, claimed or not.
DELETE FROM signup_links WHERE workspace_id IN (
  SELECT workspace_id FROM signup_links WHERE expires_ms <= :now_ms ORDER BY expires_ms LIMIT :most
)
RETURNING workspace_id

-- name: find_deployment_fact
-- Find a fact about this deployment, such as the fingerprint of a secret.
SELECT value FROM deployment_facts WHERE workspace_id = :workspace_id AND name = :name

-- name: set_deployment_fact
-- Record a fact about this deployment.
INSERT INTO deployment_facts (workspace_id, name, value) VALUES (:workspace_id, :name, :value)
ON CONFLICT (workspace_id, name) DO UPDATE SET value = excluded.value

-- name: name_deployment
-- Name this deployment unless it has a name; returns the one that it has.
INSERT INTO deployment_facts (workspace_id, name, value) VALUES (:workspace_id, 'deployment', :value)
ON CONFLICT (workspace_id, name) DO UPDATE SET value = deployment_facts.value
RETURNING value

-- name: list_deployment_facts
-- List the facts of all workspaces whose names match.
SELECT value FROM deployment_facts WHERE name LIKE :pattern ORDER BY workspace_id, name

-- name: bump_position [postgres only]
-- Tell pages that the journal has grown since the value before. Every process writes this row at most once a second.
INSERT INTO deployment_facts (workspace_id, name, value) VALUES (:workspace_id, 'journal position', :position)
ON CONFLICT (workspace_id, name) DO UPDATE SET value = excluded.value

-- name: read_server_history [postgres, skipped on sqlite]
-- Read which history of the database this server continues, whether a commit waits for a standby, and the number of this
-- database on its server, which a new name does not change.
SELECT system_identifier::text AS system,
       (SELECT datid::text FROM pg_stat_get_activity(pg_backend_pid())) AS database,
       ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int AS timeline,
       current_setting('synchronous_standby_names') <> ''
         AND current_setting('synchronous_commit') NOT IN ('off', 'local') AS synchronous
FROM pg_control_system()

-- name: read_clock [postgres, skipped on sqlite]
-- Read the server's time in milliseconds.
SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint

-- name: advance_head
-- Count one further in a data directory; returns the number.
INSERT INTO deployment_facts (workspace_id, name, value) VALUES (:workspace_id, :name, '1')
ON CONFLICT (workspace_id, name)
DO UPDATE SET value = CAST(CAST(deployment_facts.value AS BIGINT) + 1 AS TEXT)
RETURNING value

-- name: count_call [postgres only]
-- Count a call unless its window is full or was never opened, under the row's lock. Deletes slots older than the window.
UPDATE rate_windows SET slots = (
  SELECT coalesce(jsonb_object_agg(s.key, s.value), '{}'::jsonb) || jsonb_build_object(
    :slot::bigint::text, coalesce((rate_windows.slots ->> (:slot::bigint::text))::bigint, 0) + 1)
  FROM jsonb_each(rate_windows.slots) s WHERE s.key::bigint >= :first_slot::bigint
)
WHERE workspace_id = :workspace_id AND bucket = :bucket
  AND (SELECT coalesce(sum(s.value::bigint), 0) FROM jsonb_each(rate_windows.slots) s
       WHERE s.key::bigint >= :first_slot::bigint) < :most::bigint
RETURNING 1

-- name: open_window [postgres only]
-- Insert an empty window; returns no row if there is one.
INSERT INTO rate_windows (workspace_id, bucket, slots) VALUES (:workspace_id, :bucket, '{}'::jsonb)
ON CONFLICT (workspace_id, bucket) DO NOTHING
RETURNING 1

-- name: read_window [postgres only]
-- Read how many calls a window has, and the first and the last slot.
SELECT coalesce(sum(s.value::bigint), 0)::bigint AS calls, coalesce(min(s.key::bigint), :slot::bigint) AS oldest_slot,
       coalesce(max(s.key::bigint), :slot::bigint) AS newest_slot
FROM rate_windows r, jsonb_each(r.slots) s
WHERE r.workspace_id = :workspace_id AND r.bucket = :bucket AND s.key::bigint >= :first_slot::bigint

-- name: move_calls [postgres only]
-- Count calls of later slots in this one: the clock was set back.
UPDATE rate_windows SET slots = (
  SELECT coalesce(jsonb_object_agg(m.slot::text, m.calls), '{}'::jsonb) FROM (
    SELECT least(s.key::bigint, :slot::bigint) AS slot, sum(s.value::bigint) AS calls
    FROM jsonb_each(slots) s GROUP BY 1
  ) m
)
WHERE workspace_id = :workspace_id AND bucket = :bucket

-- name: ping
-- Whether the database answers.
SELECT 1 AS alive
