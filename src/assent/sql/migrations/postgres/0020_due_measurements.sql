-- What is still to be measured, soonest first: stays small however many runs were measured.
CREATE INDEX measurements_due ON measurements (workspace_id, due_ms) WHERE measured_ms IS NULL;
