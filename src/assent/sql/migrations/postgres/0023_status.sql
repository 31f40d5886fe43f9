-- What a status report reads by: each index holds one section of it, so that a report costs the same however much
-- history there is. What confirms a step of a workflow is sent by nobody and is in none of them.

CREATE INDEX actions_unsent ON actions (workspace_id, action_id)
  WHERE status = 'approved' AND executor_tool <> 'workflow_advance';

CREATE INDEX actions_failed ON actions (workspace_id, action_id) WHERE status = 'failed';

CREATE INDEX actions_sent ON actions (workspace_id, executed_ms, action_id)
  WHERE executed_ms IS NOT NULL AND executor_tool <> 'workflow_advance';

CREATE INDEX measurements_read ON measurements (workspace_id, measured_ms) WHERE measured_ms IS NOT NULL;

-- What was learned, whichever tenant it is about.
CREATE INDEX brain_lessons ON brain_entries (workspace_id, entry_id)
  WHERE kind IN ('channel_performance', 'rejection', 'lesson') AND state <> 'retired';
