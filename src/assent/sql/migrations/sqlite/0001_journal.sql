-- The journal (streams and their events) and the idempotency records. STRICT, so that SQLite refuses what
-- PostgreSQL would refuse.

-- The head of every stream: the number and the chain hash of its last event. An append locks this row first.
CREATE TABLE streams (
    workspace_id TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, stream_id)
) STRICT, WITHOUT ROWID;

-- Append-only. `hash` chains the event to the one before it; `body` is stored exactly as it was hashed.
CREATE TABLE events (
    workspace_id TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (workspace_id, stream_id, seq)
) STRICT;

-- One answer per key, scoped by workspace and tool (C12). `response` is NULL from the moment an effect is attempted
-- until its answer is known.
CREATE TABLE idempotency (
    workspace_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    key TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    response TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, tool, key)
) STRICT;

CREATE INDEX idempotency_expiry ON idempotency (expires_at);
