-- The tables of assent-launch: its site, the memory, measurements and credits.

-- One page per action and revision: publishing again finds it.
CREATE TABLE launch_site_posts (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  revision     INTEGER NOT NULL,
  post_id      TEXT NOT NULL,
  title        TEXT NOT NULL,
  body         TEXT NOT NULL,
  link         TEXT NOT NULL,
  media        TEXT NOT NULL,
  published_ms INTEGER NOT NULL,
  -- When a page of the feed was taken down; its text and its counts stay.
  removed_ms   INTEGER,
  PRIMARY KEY (workspace_id, action_id, revision)
) STRICT;

CREATE UNIQUE INDEX launch_site_posts_by_address ON launch_site_posts (workspace_id, post_id);

CREATE INDEX launch_site_posts_newest ON launch_site_posts (workspace_id, published_ms, post_id);

-- Visits of a post on a day: views where `link` is empty, else clicks on that link. Nothing about who.
CREATE TABLE launch_site_visits (
  workspace_id TEXT NOT NULL,
  post_id      TEXT NOT NULL,
  day          INTEGER NOT NULL,
  link         TEXT NOT NULL,
  visits       INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, post_id, day, link)
) STRICT, WITHOUT ROWID;

-- Entries are never removed, so the numbers are 1, 2, 3, … as they came: the index of their words goes by them. They
-- are a column because rowids that are not may be given anew when the file is compacted.
CREATE TABLE launch_brain_entries (
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

CREATE INDEX launch_brain_by_tenant ON launch_brain_entries (workspace_id, tenant_id, kind, entry_id);

-- What was learned, whichever tenant it is about.
CREATE INDEX launch_brain_lessons ON launch_brain_entries (workspace_id, entry_id)
  WHERE kind IN ('channel_performance', 'rejection', 'lesson') AND state <> 'retired';

-- A page of memories of some kinds, newest first.
CREATE INDEX launch_brain_by_kind ON launch_brain_entries (workspace_id, kind, entry_id);

CREATE TABLE launch_measurements (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  tenant_id    TEXT NOT NULL,
  asset_id     TEXT,
  due_ms       INTEGER NOT NULL,
  measured_ms  INTEGER,
  body         TEXT,
  PRIMARY KEY (workspace_id, run_id)
) STRICT, WITHOUT ROWID;

-- What has been measured.
CREATE INDEX launch_measurements_by_tenant ON launch_measurements (workspace_id, tenant_id, measured_ms)
  WHERE measured_ms IS NOT NULL;

-- What is still to be measured, soonest first.
CREATE INDEX launch_measurements_due ON launch_measurements (workspace_id, due_ms) WHERE measured_ms IS NULL;
CREATE INDEX launch_measurements_due_of_tenant ON launch_measurements (workspace_id, tenant_id, due_ms)
  WHERE measured_ms IS NULL;

CREATE INDEX launch_measurements_read ON launch_measurements (workspace_id, measured_ms) WHERE measured_ms IS NOT NULL;

CREATE TABLE launch_manual_metrics (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  channel      TEXT NOT NULL,
  metrics      TEXT NOT NULL,
  source       TEXT NOT NULL,
  recorded_ms  INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, run_id, channel)
) STRICT, WITHOUT ROWID;

-- What a workspace may spend and has spent: the fold of its entries. A workspace without a row is unlimited.
CREATE TABLE launch_credit_accounts (
  workspace_id TEXT PRIMARY KEY,
  unlimited    INTEGER NOT NULL,
  granted      INTEGER NOT NULL,
  spent        INTEGER NOT NULL,
  reserved     INTEGER NOT NULL,
  seq          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The ledger. Nothing is changed or removed.
CREATE TABLE launch_credit_entries (
  workspace_id TEXT NOT NULL,
  seq          INTEGER NOT NULL,
  kind         TEXT NOT NULL CHECK (kind IN ('grant', 'limit', 'unlimit', 'reserve', 'release', 'settle', 'charge')),
  amount       INTEGER NOT NULL,
  action_id    TEXT,
  attempt_id   TEXT,
  by_whom      TEXT NOT NULL,
  at_ms        INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, seq)
) STRICT, WITHOUT ROWID;

-- How each metered action stands: nothing is charged twice.
CREATE TABLE launch_credit_charges (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  amount       INTEGER NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('reserved', 'released', 'settled')),
  PRIMARY KEY (workspace_id, action_id)
) STRICT, WITHOUT ROWID;

-- Which memory changed which draft.
CREATE TABLE launch_memory_uses (
  workspace_id TEXT NOT NULL,
  entry_id     TEXT NOT NULL,
  asset_id     TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  PRIMARY KEY (workspace_id, entry_id, asset_id)
) STRICT, WITHOUT ROWID;

-- The words of the entries for searching. Entries come one with every decision and are searched seldom, so the index
-- takes them in by the batch, and whoever searches takes in the rest first.
CREATE VIRTUAL TABLE launch_brain_words USING fts5 (
  body, content = 'launch_brain_entries', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 2"
);
