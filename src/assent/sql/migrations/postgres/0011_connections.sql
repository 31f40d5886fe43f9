-- What a workspace is connected to, and the secrets of that, sealed.

-- The key that seals a workspace's secrets, itself sealed by the master secret that `sealed_by` names.
CREATE TABLE vault_keys (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  sealed_by    TEXT NOT NULL,
  sealed       TEXT NOT NULL,
  made_ms      BIGINT NOT NULL
);

-- One secret each: whose it is (a provider), which field, and the sealed bytes.
CREATE TABLE vault_secrets (
  workspace_id TEXT NOT NULL,
  holder       TEXT NOT NULL,
  field        TEXT NOT NULL,
  sealed       TEXT NOT NULL,
  changed_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, holder, field)
);

-- One connection per provider; a connection that has ended stays as a row without secrets.
CREATE TABLE connections (
  workspace_id TEXT NOT NULL,
  provider     TEXT NOT NULL,
  state        TEXT NOT NULL,
  label        TEXT NOT NULL,
  accounts     TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  settings     TEXT NOT NULL,
  expires_ms   BIGINT,
  connected_by TEXT NOT NULL,
  connected_ms BIGINT NOT NULL,
  changed_ms   BIGINT NOT NULL,
  problem      TEXT,
  version      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, provider)
);
