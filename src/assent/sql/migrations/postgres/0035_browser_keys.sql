-- The public key that a browser made when it signed in. Its private part never leaves that browser and origin.
ALTER TABLE sessions ADD COLUMN public_key TEXT;

-- Nonces of confirmed forms. Each works once.
CREATE TABLE used_nonces (
  workspace_id TEXT NOT NULL,
  nonce_hash   TEXT NOT NULL,
  expires_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, nonce_hash)
);
CREATE INDEX used_nonces_by_end ON used_nonces (expires_ms);

-- The passkeys of people who sign in.
CREATE TABLE passkeys (
  workspace_id  TEXT NOT NULL,
  credential_id TEXT NOT NULL,
  person_id     TEXT NOT NULL,
  public_key    TEXT NOT NULL,
  sign_count    BIGINT NOT NULL,
  label         TEXT NOT NULL,
  created_ms    BIGINT NOT NULL,
  used_ms       BIGINT,
  PRIMARY KEY (workspace_id, credential_id)
);
CREATE INDEX passkeys_by_person ON passkeys (workspace_id, person_id);
