-- What a tenant's runs have learned, and what became of what was sent.

CREATE TABLE brain_entries (
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

CREATE INDEX brain_by_tenant ON brain_entries (workspace_id, tenant_id, kind, entry_id);
CREATE INDEX brain_by_words ON brain_entries USING gin (words);

CREATE TABLE measurements (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  tenant_id    TEXT NOT NULL,
  asset_id     TEXT,
  due_ms       BIGINT NOT NULL,
  measured_ms  BIGINT,
  body         TEXT,
  PRIMARY KEY (workspace_id, run_id)
);

-- What has been measured; what is only scheduled is not looked for by its tenant.
CREATE INDEX measurements_by_tenant ON measurements (workspace_id, tenant_id, measured_ms)
  WHERE measured_ms IS NOT NULL;

CREATE TABLE manual_metrics (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  channel      TEXT NOT NULL,
  metrics      TEXT NOT NULL,
  source       TEXT NOT NULL,
  recorded_ms  BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, run_id, channel)
);
