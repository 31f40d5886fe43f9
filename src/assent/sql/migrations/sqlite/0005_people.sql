-- People who sign in to this server: who they are, the links they sign in by and the sessions of their browsers.
-- They belong to the server and not to a workspace, so their rows carry the id that stands for it.

CREATE TABLE people (
  workspace_id TEXT NOT NULL,
  person_id    TEXT NOT NULL,
  name         TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, person_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sign_in_links (
  workspace_id TEXT NOT NULL,
  link_id      TEXT NOT NULL,
  person_id    TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  expires_ms   INTEGER NOT NULL,
  used_ms      INTEGER,
  PRIMARY KEY (workspace_id, link_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sign_in_links_by_expiry ON sign_in_links (expires_ms);

CREATE TABLE sessions (
  workspace_id TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  person_id    TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  expires_ms   INTEGER NOT NULL,
  ended_ms     INTEGER,
  PRIMARY KEY (workspace_id, session_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_expiry ON sessions (expires_ms);

-- A signed-in person opens a run by its id alone, whichever workspace it is in.
CREATE INDEX runs_by_id ON runs (run_id);

-- What needs a human in every workspace, oldest first, with all that the inbox counts and picks by.
CREATE INDEX actions_waiting_anywhere ON actions (action_id, status, execution_state, expires_ms)
  WHERE status = 'awaiting_approval' OR execution_state = 'outcome_unknown';
