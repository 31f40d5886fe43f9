-- Runs whose words are not in the index of the search yet, which a search or a job puts there (decision 30).
CREATE TABLE search_queue (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  PRIMARY KEY (workspace_id, run_id)
) STRICT, WITHOUT ROWID;
