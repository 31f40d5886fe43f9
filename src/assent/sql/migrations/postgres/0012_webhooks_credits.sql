-- Results that are posted to somebody's address, and what metered actions cost.

-- A result on its way. `delivery_id` is the webhook-id, the same in every try; `body` is what is signed, byte for byte.
CREATE TABLE webhook_deliveries (
  workspace_id TEXT NOT NULL,
  delivery_id  TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  type         TEXT NOT NULL,
  url          TEXT NOT NULL,
  body         TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
  tries        BIGINT NOT NULL,
  resends      BIGINT NOT NULL,
  next_try_ms  BIGINT,
  created_ms   BIGINT NOT NULL,
  ended_ms     BIGINT,
  PRIMARY KEY (workspace_id, delivery_id)
);

-- What retention removes.
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_ms);

-- The log: one line a try.
CREATE TABLE webhook_tries (
  workspace_id TEXT NOT NULL,
  delivery_id  TEXT NOT NULL,
  number       BIGINT NOT NULL,
  at_ms        BIGINT NOT NULL,
  duration_ms  BIGINT NOT NULL,
  outcome      TEXT NOT NULL,
  status       BIGINT,
  detail       TEXT NOT NULL,
  PRIMARY KEY (workspace_id, delivery_id, number)
);

-- What a workspace may spend and has spent: the fold of its entries. A workspace without a row is unlimited.
CREATE TABLE credit_accounts (
  workspace_id TEXT PRIMARY KEY,
  unlimited    BIGINT NOT NULL,
  granted      BIGINT NOT NULL,
  spent        BIGINT NOT NULL,
  reserved     BIGINT NOT NULL,
  seq          BIGINT NOT NULL
);

-- The ledger. Nothing is changed or removed.
CREATE TABLE credit_entries (
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
CREATE TABLE credit_charges (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  amount       BIGINT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('reserved', 'released', 'settled')),
  PRIMARY KEY (workspace_id, action_id)
);
