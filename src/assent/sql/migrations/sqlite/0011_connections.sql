-- What a workspace is connected to, and the secrets of that, sealed.

-- The key that seals a workspace's secrets, itself sealed by the master secret that `sealed_by` names.
CREATE TABLE vault_keys (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  sealed_by    TEXT NOT NULL,
  sealed       TEXT NOT NULL,
  made_ms      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One secret each: whose it is (a provider), which field, and the sealed bytes.
CREATE TABLE vault_secrets (
  workspace_id TEXT NOT NULL,
  holder       TEXT NOT NULL,
  field        TEXT NOT NULL,
  sealed       TEXT NOT NULL,
  changed_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, holder, field)
) STRICT, WITHOUT ROWID;

-- One connection per provider; a connection that has ended stays as a row without secrets.
CREATE TABLE connections (
  workspace_id TEXT NOT NULL,
  provider     TEXT NOT NULL,
  state        TEXT NOT NULL,
  label        TEXT NOT NULL,
  accounts     TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  settings     TEXT NOT NULL,
  expires_ms   INTEGER,
  connected_by TEXT NOT NULL,
  connected_ms INTEGER NOT NULL,
  changed_ms   INTEGER NOT NULL,
  problem      TEXT,
  version      INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, provider)
) STRICT, WITHOUT ROWID;
