-- The tables of assent-launch: its site, the memory, measurements and credits.

-- One page per action and revision: publishing again finds it.
CREATE TABLE launch_site_posts (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  revision     BIGINT NOT NULL,
  post_id      TEXT NOT NULL,
  title        TEXT NOT NULL,
  body         TEXT NOT NULL,
  link         TEXT NOT NULL,
  media        TEXT NOT NULL,
  published_ms BIGINT NOT NULL,
  -- When a page of the feed was taken down; its text and its counts stay.
  removed_ms   BIGINT,
  PRIMARY KEY (workspace_id, action_id, revision)
);

CREATE UNIQUE INDEX launch_site_posts_by_address ON launch_site_posts (workspace_id, post_id);

CREATE INDEX launch_site_posts_newest ON launch_site_posts (workspace_id, published_ms, post_id);

-- Visits of a post on a day: views where `link` is empty, else clicks on that link. Nothing about who.
CREATE TABLE launch_site_visits (
  workspace_id TEXT NOT NULL,
  post_id      TEXT NOT NULL,
  day          BIGINT NOT NULL,
  link         TEXT NOT NULL,
  visits       BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, post_id, day, link)
);

-- What a tenant's runs have learned, and what became of what was sent.
CREATE TABLE launch_brain_entries (
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
  created_ms   BIGINT NOT NULL,
  words        TSVECTOR GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED,
  PRIMARY KEY (workspace_id, entry_id),
  UNIQUE (workspace_id, natural_key)
);

CREATE INDEX launch_brain_by_tenant ON launch_brain_entries (workspace_id, tenant_id, kind, entry_id);

CREATE INDEX launch_brain_by_words ON launch_brain_entries USING gin (words);

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
  due_ms       BIGINT NOT NULL,
  measured_ms  BIGINT,
  body         TEXT,
  PRIMARY KEY (workspace_id, run_id)
);

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
  recorded_ms  BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, run_id, channel)
);

-- What a workspace may spend and has spent: the fold of its entries. A workspace without a row is unlimited.
CREATE TABLE launch_credit_accounts (
  workspace_id TEXT PRIMARY KEY,
  unlimited    BIGINT NOT NULL,
  granted      BIGINT NOT NULL,
  spent        BIGINT NOT NULL,
  reserved     BIGINT NOT NULL,
  seq          BIGINT NOT NULL
);

-- The ledger. Nothing is changed or removed.
CREATE TABLE launch_credit_entries (
  workspace_id TEXT NOT NULL,
  seq          BIGINT NOT NULL,
  kind         TEXT NOT NULL CHECK (kind IN ('grant', 'limit', 'unlimit', 'reserve', 'release', 'settle', 'charge')),
  amount       BIGINT NOT NULL,
  action_id    TEXT,
  attempt_id   TEXT,
  by_whom      TEXT NOT NULL,
  at_ms        BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, seq)
);

-- How each metered action stands: nothing is charged twice.
CREATE TABLE launch_credit_charges (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  amount       BIGINT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('reserved', 'released', 'settled')),
  PRIMARY KEY (workspace_id, action_id)
);

-- Which memory changed which draft.
CREATE TABLE launch_memory_uses (
  workspace_id TEXT NOT NULL,
  entry_id     TEXT NOT NULL,
  asset_id     TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  PRIMARY KEY (workspace_id, entry_id, asset_id)
);
