-- The indexes of what waits cover the revision, which the counts of the inbox compare: a row with its view is large.
DROP INDEX actions_waiting_anywhere;
CREATE INDEX actions_waiting_anywhere
  ON actions (action_id, status, execution_state, expires_ms, workspace_id, revision)
  WHERE status = 'awaiting_approval' OR execution_state = 'outcome_unknown';

DROP INDEX actions_by_risk;
CREATE INDEX actions_by_risk ON actions (risk, expires_ms, action_id, workspace_id, status, revision)
  WHERE status = 'awaiting_approval';
