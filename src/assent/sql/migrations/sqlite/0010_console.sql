-- The console: people with roles and workspaces, devices, earlier revisions, and what needs somebody, by risk.

ALTER TABLE people ADD COLUMN role TEXT NOT NULL DEFAULT 'owner' CHECK (role IN ('owner', 'member'));
ALTER TABLE people ADD COLUMN email TEXT;
ALTER TABLE people ADD COLUMN ended_ms INTEGER;

ALTER TABLE sessions ADD COLUMN device TEXT NOT NULL DEFAULT '';
CREATE INDEX sessions_by_person ON sessions (workspace_id, person_id, created_ms);

-- Which workspaces a member may look at and decide in; an owner needs no row.
CREATE TABLE memberships (
  workspace_id TEXT NOT NULL,
  person_id    TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, person_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX memberships_by_person ON memberships (person_id, workspace_id);

-- Approvers are told apart by who they are; the name is what they were called when they said yes.
ALTER TABLE action_approvals ADD COLUMN name TEXT NOT NULL DEFAULT '';

-- What an action said before it was edited, so that a reader can see what changed.
CREATE TABLE action_revisions (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  revision     INTEGER NOT NULL,
  effect       TEXT NOT NULL,
  PRIMARY KEY (workspace_id, action_id, revision)
) STRICT, WITHOUT ROWID;

-- The severity as a number to order by; 0 is the most severe.
ALTER TABLE actions ADD COLUMN risk INTEGER NOT NULL DEFAULT 1;
UPDATE actions SET risk = CASE json_extract(preflight, '$.severity') WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END;

-- What waits for a decision, the most severe first and what ends soonest before the rest.
CREATE INDEX actions_by_risk ON actions (risk, expires_ms, action_id, workspace_id, status)
  WHERE status = 'awaiting_approval';

-- What was done lately.
CREATE INDEX actions_by_execution ON actions (executed_ms, action_id, workspace_id) WHERE executed_ms IS NOT NULL;

-- A signed-in person opens an action by its id alone.
CREATE INDEX actions_by_id ON actions (action_id);

-- Where a workspace's people are told that something needs them. The address is in the vault; this is what is shown.
CREATE TABLE notification_targets (
  workspace_id TEXT NOT NULL,
  target_id    TEXT NOT NULL,
  kind         TEXT NOT NULL CHECK (kind IN ('email', 'slack', 'ntfy')),
  shown        TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  told_ms      INTEGER,
  problem      TEXT,
  PRIMARY KEY (workspace_id, target_id)
) STRICT, WITHOUT ROWID;
