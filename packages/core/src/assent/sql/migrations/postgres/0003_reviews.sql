-- What people changed or turned down lately, which the status tells.
CREATE INDEX events_reviewed ON events (workspace_id, at_ms, stream_id, seq) WHERE kind IN ('action_edit', 'action_reject');
