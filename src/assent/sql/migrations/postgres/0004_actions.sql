-- The execution contract: runs, what they produced, and the effects they staged.

CREATE TABLE runs (
  workspace_id  TEXT NOT NULL,
  run_id        TEXT NOT NULL,
  tenant_id     TEXT,
  operator      TEXT NOT NULL,
  tool          TEXT NOT NULL,
  inputs        TEXT NOT NULL,
  outputs       TEXT NOT NULL,
  status        TEXT NOT NULL,
  parent_run_id TEXT,
  created_ms    BIGINT NOT NULL,
  links_from_ms BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, run_id)
);

CREATE TABLE assets (
  workspace_id TEXT NOT NULL,
  asset_id     TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  tenant_id    TEXT,
  type         TEXT NOT NULL,
  title        TEXT NOT NULL,
  body         TEXT NOT NULL,
  channel      TEXT,
  metadata     TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, asset_id)
);

CREATE INDEX assets_by_run ON assets (workspace_id, run_id, asset_id);

CREATE TABLE actions (
  workspace_id    TEXT NOT NULL,
  action_id       TEXT NOT NULL,
  run_id          TEXT NOT NULL,
  tenant_id       TEXT,
  asset_id        TEXT,
  position        BIGINT NOT NULL,
  version         BIGINT NOT NULL,
  effect          TEXT NOT NULL,
  digest          TEXT NOT NULL,
  revision        BIGINT NOT NULL,
  executor_tool   TEXT NOT NULL,
  status          TEXT NOT NULL
    CHECK (status IN ('awaiting_approval', 'approved', 'rejected', 'executed', 'failed')),
  execution_state TEXT NOT NULL
    CHECK (execution_state IN ('none', 'executing', 'outcome_unknown', 'retryable', 'done')),
  preflight       TEXT NOT NULL,
  created_ms      BIGINT NOT NULL,
  expires_ms      BIGINT,
  schedule_ms     BIGINT,
  approval        TEXT,
  rejection       TEXT,
  attempt         TEXT,
  executed_ms     BIGINT,
  external_id     TEXT,
  external_url    TEXT,
  metadata        TEXT NOT NULL,
  PRIMARY KEY (workspace_id, action_id)
);

CREATE INDEX actions_by_run ON actions (workspace_id, run_id, position);

-- Only what waits for a human: stays small however many actions have ended.
CREATE INDEX actions_waiting ON actions (workspace_id, action_id)
  WHERE status = 'awaiting_approval' OR execution_state = 'outcome_unknown';

-- Who has approved a revision so far, where a policy asks for more than one person.
CREATE TABLE action_approvals (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  revision     BIGINT NOT NULL,
  approver     TEXT NOT NULL,
  assurance    TEXT NOT NULL,
  at_ms        BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, action_id, revision, approver)
);

CREATE TABLE workspace_policies (
  workspace_id TEXT PRIMARY KEY,
  policy       TEXT NOT NULL
);
