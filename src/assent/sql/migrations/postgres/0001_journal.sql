-- The journal (streams and their events) and the idempotency records.

-- The head of every stream: the number and the chain hash of its last event. An append locks this row first.
CREATE TABLE streams (
    workspace_id TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, stream_id)
);

-- Append-only. `hash` chains the event to the one before it; `body` is stored exactly as it was hashed.
CREATE TABLE events (
    workspace_id TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    body TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (workspace_id, stream_id, seq)
);

-- One answer per key, scoped by workspace and tool (C12). `response` is NULL from the moment an effect is attempted
-- until its answer is known.
CREATE TABLE idempotency (
    workspace_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    key TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    response TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, tool, key)
);

CREATE INDEX idempotency_expiry ON idempotency (expires_at);
