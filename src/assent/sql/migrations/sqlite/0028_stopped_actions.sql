-- What was approved and did not go out, wherever it is: for the inbox of a person who sees several workspaces.
CREATE INDEX actions_unsent_anywhere ON actions (action_id, workspace_id)
  WHERE status = 'approved' AND executor_tool <> 'workflow_advance';

CREATE INDEX actions_failed_anywhere ON actions (created_ms, action_id, workspace_id) WHERE status = 'failed';
