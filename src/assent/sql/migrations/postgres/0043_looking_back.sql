-- The time zone in which a person reads times; empty before they have one.
ALTER TABLE people ADD COLUMN zone TEXT NOT NULL DEFAULT '';

-- What the operations page reads: the decisions of a workspace in the order of time.
CREATE INDEX events_decided ON events (workspace_id, at_ms) WHERE kind IN ('action_approve', 'action_reject');

-- Which memory changed which draft.
CREATE TABLE memory_uses (
  workspace_id TEXT NOT NULL,
  entry_id     TEXT NOT NULL,
  asset_id     TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  PRIMARY KEY (workspace_id, entry_id, asset_id)
);

INSERT INTO memory_uses (workspace_id, entry_id, asset_id, run_id)
SELECT u.workspace_id, u.entry_id, u.asset_id, u.run_id FROM (
  SELECT a.workspace_id, a.asset_id, a.run_id, used.value ->> 'entryId' AS entry_id
  FROM assets a, json_array_elements(
    CASE json_typeof(CAST(a.metadata AS JSON) -> 'memoryUsed')
      WHEN 'array' THEN CAST(a.metadata AS JSON) -> 'memoryUsed' END
  ) AS used (value)
) AS u
WHERE u.entry_id IS NOT NULL
ON CONFLICT DO NOTHING;

-- A page of memories of some kinds, newest first.
CREATE INDEX brain_by_kind ON brain_entries (workspace_id, kind, entry_id);

-- What has an unknown outcome: found without reading all that waits.
CREATE INDEX actions_unknown ON actions (workspace_id, action_id) WHERE execution_state = 'outcome_unknown';
