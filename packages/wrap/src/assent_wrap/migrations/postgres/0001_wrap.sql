-- Wrapped servers: the profiles that clients named (their contents are in the vault), the accepted definitions of tools,
-- the newest proposal of each call, the calls that a gate would have asked about, and the rules of the workspace.
CREATE TABLE wrap_profiles (
  workspace_id TEXT NOT NULL,
  profile_id   TEXT NOT NULL,
  used_ms      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, profile_id)
);

CREATE TABLE wrap_tools (
  workspace_id TEXT NOT NULL,
  server       TEXT NOT NULL,
  tool         TEXT NOT NULL,
  pin          TEXT NOT NULL,
  definition   TEXT NOT NULL,
  accepted_ms  BIGINT NOT NULL,
  -- Whether a tool has said that it only reads since the server's first list, which was accepted at one moment.
  hinted       BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, server, tool)
);

CREATE TABLE wrap_calls (
  workspace_id TEXT NOT NULL,
  holder       TEXT NOT NULL,
  call         TEXT NOT NULL,
  generation   BIGINT NOT NULL,
  action_id    TEXT NOT NULL,
  PRIMARY KEY (workspace_id, holder, call)
);

CREATE TABLE wrap_observed (
  workspace_id TEXT NOT NULL,
  server       TEXT NOT NULL,
  tool         TEXT NOT NULL,
  -- Both are empty in the row that counts all calls of the tool.
  argument     TEXT NOT NULL,
  beginning    TEXT NOT NULL,
  calls        BIGINT NOT NULL,
  last_ms      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, server, tool, argument, beginning)
);

CREATE TABLE wrap_rules (
  workspace_id TEXT NOT NULL,
  name         TEXT NOT NULL,
  -- The rule as it was written, and the MAC that shows that this server recorded it.
  body         TEXT NOT NULL,
  seal         TEXT NOT NULL,
  set_by       TEXT NOT NULL,
  set_ms       BIGINT NOT NULL,
  used         BIGINT NOT NULL,
  last_ms      BIGINT,
  PRIMARY KEY (workspace_id, name)
);
