-- Who owns what: workspaces, their tenants and keys, links that deliver a first key, and facts of the deployment.

CREATE TABLE workspaces (
  workspace_id TEXT PRIMARY KEY,
  name         TEXT NOT NULL,
  email        TEXT,
  created_ms   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tenants (
  workspace_id TEXT NOT NULL,
  tenant_id    TEXT NOT NULL,
  name         TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, tenant_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  workspace_id TEXT NOT NULL,
  key_id       TEXT NOT NULL,
  mode         TEXT NOT NULL CHECK (mode IN ('dev', 'live')),
  secret_hash  TEXT NOT NULL,
  label        TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  expires_ms   INTEGER,
  revoked_ms   INTEGER,
  PRIMARY KEY (workspace_id, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE signup_links (
  workspace_id TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  email        TEXT NOT NULL,
  name         TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  expires_ms   INTEGER NOT NULL,
  claimed_ms   INTEGER,
  PRIMARY KEY (workspace_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX signup_links_by_expiry ON signup_links (expires_ms);

CREATE TABLE deployment_facts (
  workspace_id TEXT NOT NULL,
  name         TEXT NOT NULL,
  value        TEXT NOT NULL,
  PRIMARY KEY (workspace_id, name)
) STRICT, WITHOUT ROWID;
