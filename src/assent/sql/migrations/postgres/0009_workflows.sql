-- Workflows: pinned programs, sessions, runs, and the tree of nodes that each run has become.

CREATE TABLE workflow_programs (
  workspace_id  TEXT NOT NULL,
  workflow_hash TEXT NOT NULL,
  workflow_id   TEXT NOT NULL,
  program       TEXT NOT NULL,
  created_ms    BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, workflow_hash)
);

CREATE TABLE workflow_sessions (
  workspace_id TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  updated_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, session_id)
);

CREATE INDEX workflow_sessions_by_age ON workflow_sessions (updated_ms);

CREATE TABLE workflow_runs (
  workspace_id  TEXT NOT NULL,
  run_id        TEXT NOT NULL,
  session_id    TEXT NOT NULL,
  workflow_id   TEXT NOT NULL,
  workflow_hash TEXT NOT NULL,
  name          TEXT NOT NULL,
  nodes         BIGINT NOT NULL,
  created_ms    BIGINT NOT NULL,
  updated_ms    BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, run_id)
);

CREATE INDEX workflow_runs_by_session ON workflow_runs (workspace_id, session_id, run_id);

-- `parent` is the node whose pending step was completed to get here, with what was sent for it.
CREATE TABLE workflow_nodes (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         BIGINT NOT NULL,
  parent       BIGINT,
  step_key     TEXT NOT NULL,
  title        TEXT NOT NULL,
  notes        TEXT NOT NULL,
  artifacts    TEXT NOT NULL,
  snapshot     TEXT NOT NULL,
  is_complete  BIGINT NOT NULL,
  children     BIGINT NOT NULL,
  event_seq    BIGINT NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node)
);

-- Every answer that was given to an advance: the same tokens and content find it again.
CREATE TABLE workflow_answers (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         BIGINT NOT NULL,
  edge         TEXT NOT NULL,
  child        BIGINT,
  answer       TEXT NOT NULL,
  text         TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node, edge)
);

CREATE TABLE workflow_checkpoints (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         BIGINT NOT NULL,
  digest       TEXT NOT NULL,
  notes        TEXT NOT NULL,
  event_seq    BIGINT NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node, digest)
);

-- Which action a human was asked about for which content of which step.
CREATE TABLE workflow_confirmations (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         BIGINT NOT NULL,
  content      TEXT NOT NULL,
  step_key     TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  event_seq    BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node, content, action_id)
);

-- Notes of people on a session as a whole.
CREATE TABLE workflow_session_notes (
  workspace_id TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  note_id      TEXT NOT NULL,
  author       TEXT NOT NULL,
  notes        TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, session_id, note_id)
);
