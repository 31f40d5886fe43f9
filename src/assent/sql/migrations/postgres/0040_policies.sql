-- The versions of each workspace's policy, as their authors wrote them.
CREATE TABLE policy_versions (
  workspace_id TEXT NOT NULL,
  version      BIGINT NOT NULL,
  digest       TEXT NOT NULL,
  source       TEXT NOT NULL,
  set_by       TEXT NOT NULL,
  at_ms        BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, version)
);

-- The person who uses a key, if that is known.
ALTER TABLE api_keys ADD COLUMN person_id TEXT;
