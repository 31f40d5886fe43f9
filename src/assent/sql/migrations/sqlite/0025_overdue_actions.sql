-- How the actions of a run stand, and how many are past their date, without reading them.
DROP INDEX actions_by_state;
CREATE INDEX actions_by_state ON actions (workspace_id, run_id, status, execution_state, expires_ms);
