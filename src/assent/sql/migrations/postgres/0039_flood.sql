-- Who proposed an action, and whether it is held: one question for people about everything that a key proposed too fast.
-- The indexes of what waits cover it, because the inbox leaves held actions out.
ALTER TABLE actions ADD COLUMN proposed_by TEXT NOT NULL DEFAULT '';
ALTER TABLE actions ADD COLUMN held INTEGER NOT NULL DEFAULT 0;

DROP INDEX actions_waiting_anywhere;
CREATE INDEX actions_waiting_anywhere
  ON actions (action_id, status, execution_state, expires_ms, workspace_id, revision, held)
  WHERE status = 'awaiting_approval' OR execution_state = 'outcome_unknown';

DROP INDEX actions_by_risk;
CREATE INDEX actions_by_risk ON actions (risk, expires_ms, action_id, workspace_id, status, revision, held)
  WHERE status = 'awaiting_approval';

CREATE INDEX actions_by_proposer ON actions (workspace_id, proposed_by, created_ms)
  WHERE status = 'awaiting_approval' AND proposed_by <> '';

CREATE INDEX actions_held ON actions (workspace_id, proposed_by, action_id, created_ms, expires_ms, held, status)
  WHERE held = 1 AND status = 'awaiting_approval';
