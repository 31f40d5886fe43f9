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
  tries        INTEGER NOT NULL,
  resends      INTEGER NOT NULL,
  next_try_ms  INTEGER,
  created_ms   INTEGER NOT NULL,
  ended_ms     INTEGER,
  PRIMARY KEY (workspace_id, delivery_id)
) STRICT;

-- What retention removes.
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_ms);

-- The log: one line a try.
CREATE TABLE webhook_tries (
  workspace_id TEXT NOT NULL,
  delivery_id  TEXT NOT NULL,
  number       INTEGER NOT NULL,
  at_ms        INTEGER NOT NULL,
  duration_ms  INTEGER NOT NULL,
  outcome      TEXT NOT NULL,
  status       INTEGER,
  detail       TEXT NOT NULL,
  PRIMARY KEY (workspace_id, delivery_id, number)
) STRICT, WITHOUT ROWID;

-- What a workspace may spend and has spent: the fold of its entries. A workspace without a row is unlimited.
CREATE TABLE credit_accounts (
  workspace_id TEXT PRIMARY KEY,
  unlimited    INTEGER NOT NULL,
  granted      INTEGER NOT NULL,
  spent        INTEGER NOT NULL,
  reserved     INTEGER NOT NULL,
  seq          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The ledger. Nothing is changed or removed.
CREATE TABLE credit_entries (
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
CREATE TABLE credit_charges (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  amount       INTEGER NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('reserved', 'released', 'settled')),
  PRIMARY KEY (workspace_id, action_id)
) STRICT, WITHOUT ROWID;
