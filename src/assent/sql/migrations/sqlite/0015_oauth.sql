-- Asking a human for access: states that come back once, and whose turn it is to renew a token.

-- A consent that was asked for. Known by a hash of its state; it ends with the session of the browser that asked.
CREATE TABLE oauth_states (
  workspace_id  TEXT NOT NULL,
  state_hash    TEXT NOT NULL,
  for_workspace TEXT NOT NULL,
  provider      TEXT NOT NULL,
  session_id    TEXT NOT NULL,
  person_id     TEXT NOT NULL,
  created_ms    INTEGER NOT NULL,
  expires_ms    INTEGER NOT NULL,
  used_ms       INTEGER,
  PRIMARY KEY (workspace_id, state_hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth_states_by_end ON oauth_states (workspace_id, expires_ms);

-- Which process renews a connection's tokens now, and until when it is believed to be at it.
CREATE TABLE oauth_turns (
  workspace_id TEXT NOT NULL,
  provider     TEXT NOT NULL,
  holder       TEXT NOT NULL,
  until_ms     INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, provider)
) STRICT, WITHOUT ROWID;
