-- What a tenant's runs have learned, and what became of what was sent.

-- Entries are never removed, so the numbers are 1, 2, 3, … as they came: the index of their words goes by them. They
-- are a column because rowids that are not may be given anew when the file is compacted.
CREATE TABLE brain_entries (
  number       INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  entry_id     TEXT NOT NULL,
  tenant_id    TEXT NOT NULL,
  kind         TEXT NOT NULL,
  body         TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('confirmed', 'proposed', 'retired')),
  source       TEXT NOT NULL,
  channel      TEXT,
  run_id       TEXT,
  action_id    TEXT,
  facts        TEXT NOT NULL,
  natural_key  TEXT,
  created_ms   INTEGER NOT NULL,
  UNIQUE (workspace_id, entry_id),
  UNIQUE (workspace_id, natural_key)
) STRICT;

CREATE INDEX brain_by_tenant ON brain_entries (workspace_id, tenant_id, kind, entry_id);

-- The words of the entries for searching. Entries come one with every decision and are searched seldom, so the index
-- takes them in by the batch, and whoever searches takes in the rest first.
CREATE VIRTUAL TABLE brain_words USING fts5 (
  body, content = 'brain_entries', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 2"
);

CREATE TABLE measurements (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  tenant_id    TEXT NOT NULL,
  asset_id     TEXT,
  due_ms       INTEGER NOT NULL,
  measured_ms  INTEGER,
  body         TEXT,
  PRIMARY KEY (workspace_id, run_id)
) STRICT, WITHOUT ROWID;

-- What has been measured; what is only scheduled is not looked for by its tenant.
CREATE INDEX measurements_by_tenant ON measurements (workspace_id, tenant_id, measured_ms)
  WHERE measured_ms IS NOT NULL;

CREATE TABLE manual_metrics (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  channel      TEXT NOT NULL,
  metrics      TEXT NOT NULL,
  source       TEXT NOT NULL,
  recorded_ms  INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, run_id, channel)
) STRICT, WITHOUT ROWID;
