-- name: find_identity
-- Find the person that an issuer's subject is linked to, removed or not.
SELECT i.person_id, i.follows_claims, p.name, p.role, p.email, p.email_vouched, p.named_by, p.zone, p.ended_ms
FROM identities i JOIN people p ON p.workspace_id = i.workspace_id AND p.person_id = i.person_id
WHERE i.workspace_id = :workspace_id AND i.issuer = :issuer AND i.subject = :subject

-- name: insert_identity
-- Link a subject to a person. Of concurrent first sign-ins one gets the row.
INSERT INTO identities (workspace_id, issuer, subject, person_id, follows_claims, linked_ms)
VALUES (:workspace_id, :issuer, :subject, :person_id, :follows_claims, :linked_ms)
ON CONFLICT (workspace_id, issuer, subject) DO NOTHING
RETURNING person_id

-- name: move_identity
-- Link a subject to the person who was invited after the former one was removed.
UPDATE identities SET person_id = :person_id, follows_claims = 0, linked_ms = :linked_ms
WHERE workspace_id = :workspace_id AND issuer = :issuer AND subject = :subject

-- name: list_chat_links
-- List the accounts of chat apps that a person has linked.
SELECT issuer, subject, linked_ms FROM identities
WHERE workspace_id = :workspace_id AND person_id = :person_id AND substr(issuer, 1, 5) = 'chat:' ORDER BY linked_ms

-- name: delete_chat_link
-- End the link of an account of a chat app.
DELETE FROM identities
WHERE workspace_id = :workspace_id AND issuer = :issuer AND subject = :subject AND person_id = :person_id
RETURNING subject

-- name: delete_chat_account
-- End the link of an account that another person links.
DELETE FROM identities WHERE workspace_id = :workspace_id AND issuer = :issuer AND subject = :subject

-- name: keep_role_here
-- Let this server, and no longer the issuer, decide a person's role.
UPDATE identities SET follows_claims = 0 WHERE workspace_id = :workspace_id AND person_id = :person_id

-- name: use_sign_in_state
-- Compare and set: a state that came back before gives no row.
INSERT INTO used_sign_in_states (workspace_id, state_hash, expires_ms)
VALUES (:workspace_id, :state_hash, :expires_ms)
ON CONFLICT (workspace_id, state_hash) DO NOTHING
RETURNING state_hash

-- name: delete_old_sign_in_states
-- Delete the states that have ended.
DELETE FROM used_sign_in_states WHERE workspace_id = :workspace_id AND expires_ms <= :now_ms

-- name: vouch_for_email
-- Note that an owner or an issuer vouches for a person's e-mail address.
UPDATE people SET email_vouched = 1
WHERE workspace_id = :workspace_id AND person_id = :person_id AND email IS NOT NULL

-- name: list_vouched_at
-- List the people with this vouched address, removed ones too, with whether an issuer identifies them.
SELECT p.person_id, p.name, p.role, p.email, p.zone, p.created_ms, p.ended_ms,
  CASE WHEN EXISTS (SELECT 1 FROM identities i WHERE i.workspace_id = :workspace_id AND i.person_id = p.person_id
    AND substr(i.issuer, 1, 5) <> 'chat:') THEN 1 ELSE 0 END AS linked
FROM people p
WHERE p.workspace_id = :workspace_id AND lower(p.email) = :email AND p.email_vouched = 1
ORDER BY p.created_ms, p.person_id

-- name: list_roster
-- List the people who can sign in, with whether their address is vouched for and whether an issuer decides their role.
SELECT p.person_id, p.name, p.role, p.email, p.email_vouched, p.named_by, p.zone,
  CASE WHEN EXISTS (SELECT 1 FROM identities i WHERE i.workspace_id = :workspace_id AND i.person_id = p.person_id
    AND i.follows_claims = 1) THEN 1 ELSE 0 END AS follows_claims
FROM people p
WHERE p.workspace_id = :workspace_id AND p.ended_ms IS NULL ORDER BY p.created_ms, p.person_id

-- name: update_person
-- Change a person's role and address.
UPDATE people SET role = :role, email = :email
WHERE workspace_id = :workspace_id AND person_id = :person_id AND ended_ms IS NULL
RETURNING person_id
