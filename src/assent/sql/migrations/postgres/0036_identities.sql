-- Whether an owner of this server or an issuer vouches for a person's e-mail address. A signup may name any address.
ALTER TABLE people ADD COLUMN email_vouched INTEGER NOT NULL DEFAULT 0;
UPDATE people SET email_vouched = 1 WHERE email IS NOT NULL AND EXISTS (
  SELECT 1 FROM events e WHERE e.workspace_id = people.workspace_id AND e.stream_id = people.workspace_id
    AND e.kind = 'person_invited' AND e.body LIKE '%"person":"' || people.person_id || '"%');

-- People by the issuer that identifies them (OpenID Connect). `follows_claims`: the issuer decides their role.
CREATE TABLE identities (
  workspace_id   TEXT NOT NULL,
  issuer         TEXT NOT NULL,
  subject        TEXT NOT NULL,
  person_id      TEXT NOT NULL,
  follows_claims INTEGER NOT NULL,
  linked_ms      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, issuer, subject)
);

CREATE INDEX identities_by_person ON identities (workspace_id, person_id);

-- Sign-ins with an issuer that came back, so that none comes back twice.
CREATE TABLE used_sign_in_states (
  workspace_id TEXT NOT NULL,
  state_hash   TEXT NOT NULL,
  expires_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, state_hash)
);

CREATE INDEX used_sign_in_states_by_end ON used_sign_in_states (workspace_id, expires_ms);
