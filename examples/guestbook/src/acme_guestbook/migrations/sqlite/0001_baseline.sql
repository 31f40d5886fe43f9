CREATE TABLE guestbook_entries (
  workspace_id TEXT NOT NULL,
  entry_id     TEXT NOT NULL,
  guest        TEXT NOT NULL,
  words        TEXT NOT NULL,
  signed_ms    INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, entry_id)
);
