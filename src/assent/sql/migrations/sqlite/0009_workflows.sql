-- Workflows: pinned programs, sessions, runs, and the tree of nodes that each run has become.

CREATE TABLE workflow_programs (
  workspace_id  TEXT NOT NULL,
  workflow_hash TEXT NOT NULL,
  workflow_id   TEXT NOT NULL,
  program       TEXT NOT NULL,
  created_ms    INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, workflow_hash)
) STRICT;

CREATE TABLE workflow_sessions (
  workspace_id TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  updated_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, session_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX workflow_sessions_by_age ON workflow_sessions (updated_ms);

CREATE TABLE workflow_runs (
  workspace_id  TEXT NOT NULL,
  run_id        TEXT NOT NULL,
  session_id    TEXT NOT NULL,
  workflow_id   TEXT NOT NULL,
  workflow_hash TEXT NOT NULL,
  name          TEXT NOT NULL,
  nodes         INTEGER NOT NULL,
  created_ms    INTEGER NOT NULL,
  updated_ms    INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, run_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX workflow_runs_by_session ON workflow_runs (workspace_id, session_id, run_id);

-- `parent` is the node whose pending step was completed to get here, with what was sent for it.
CREATE TABLE workflow_nodes (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         INTEGER NOT NULL,
  parent       INTEGER,
  step_key     TEXT NOT NULL,
  title        TEXT NOT NULL,
  notes        TEXT NOT NULL,
  artifacts    TEXT NOT NULL,
  snapshot     TEXT NOT NULL,
  is_complete  INTEGER NOT NULL,
  children     INTEGER NOT NULL,
  event_seq    INTEGER NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node)
) STRICT, WITHOUT ROWID;

-- Every answer that was given to an advance: the same tokens and content find it again.
CREATE TABLE workflow_answers (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         INTEGER NOT NULL,
  edge         TEXT NOT NULL,
  child        INTEGER,
  answer       TEXT NOT NULL,
  text         TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node, edge)
) STRICT;

CREATE TABLE workflow_checkpoints (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         INTEGER NOT NULL,
  digest       TEXT NOT NULL,
  notes        TEXT NOT NULL,
  event_seq    INTEGER NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node, digest)
) STRICT;

-- Which action a human was asked about for which content of which step.
CREATE TABLE workflow_confirmations (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         INTEGER NOT NULL,
  content      TEXT NOT NULL,
  step_key     TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  event_seq    INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node, content, action_id)
) STRICT;

-- Notes of people on a session as a whole.
CREATE TABLE workflow_session_notes (
  workspace_id TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  note_id      TEXT NOT NULL,
  author       TEXT NOT NULL,
  notes        TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, session_id, note_id)
) STRICT;
