-- Who owns what: workspaces, their tenants and keys, links that deliver a first key, and facts of the deployment.

CREATE TABLE workspaces (
  workspace_id TEXT PRIMARY KEY,
  name         TEXT NOT NULL,
  email        TEXT,
  created_ms   BIGINT NOT NULL
);

CREATE TABLE tenants (
  workspace_id TEXT NOT NULL,
  tenant_id    TEXT NOT NULL,
  name         TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, tenant_id)
);

CREATE TABLE api_keys (
  workspace_id TEXT NOT NULL,
  key_id       TEXT NOT NULL,
  mode         TEXT NOT NULL CHECK (mode IN ('dev', 'live')),
  secret_hash  TEXT NOT NULL,
  label        TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  expires_ms   BIGINT,
  revoked_ms   BIGINT,
  PRIMARY KEY (workspace_id, key_id)
);

CREATE TABLE signup_links (
  workspace_id TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  email        TEXT NOT NULL,
  name         TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  expires_ms   BIGINT NOT NULL,
  claimed_ms   BIGINT,
  PRIMARY KEY (workspace_id)
);

CREATE INDEX signup_links_by_expiry ON signup_links (expires_ms);

CREATE TABLE deployment_facts (
  workspace_id TEXT NOT NULL,
  name         TEXT NOT NULL,
  value        TEXT NOT NULL,
  PRIMARY KEY (workspace_id, name)
);

-- Calls of a workspace (or signups of an address) by second, so that limits hold across every replica.
-- The embedded store keeps these counts in memory: it has one serving process.
CREATE TABLE rate_windows (
  workspace_id TEXT NOT NULL,
  bucket       TEXT NOT NULL,
  slots        JSONB NOT NULL,
  PRIMARY KEY (workspace_id, bucket)
);
