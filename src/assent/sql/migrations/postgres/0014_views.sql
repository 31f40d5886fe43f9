-- What the pages that look back read by: the journal of a workspace in the order of time, and how the actions of a run
-- stand without reading them.

CREATE INDEX events_by_time ON events (workspace_id, at_ms, stream_id, seq, kind);

CREATE INDEX actions_by_state ON actions (workspace_id, run_id, status, execution_state);
