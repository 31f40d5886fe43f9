-- Where nothing is sent: a workspace, or every one under the id of the deployment.
CREATE TABLE freezes (
  workspace_id TEXT PRIMARY KEY,
  since_ms     BIGINT NOT NULL,
  set_by       TEXT NOT NULL,
  why          TEXT NOT NULL
);
