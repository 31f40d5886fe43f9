-- Durable jobs: work that outlives the call that caused it, and the outbox of every transaction.

-- `ready_ms` is the one moment at which a runner has to look at a job again: when it is due, or when the lease of the
-- worker that runs it ends. A finished job has none.
CREATE TABLE jobs (
    workspace_id TEXT NOT NULL,
    job_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    due_ms BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'dead')),
    attempts BIGINT NOT NULL,
    lease_until_ms BIGINT,
    fence BIGINT NOT NULL,
    worker TEXT,
    last_error TEXT,
    created_ms BIGINT NOT NULL,
    finished_ms BIGINT,
    ready_ms BIGINT GENERATED ALWAYS AS (
        CASE state WHEN 'waiting' THEN due_ms WHEN 'running' THEN lease_until_ms END
    ) STORED,
    PRIMARY KEY (workspace_id, job_id),
    UNIQUE (workspace_id, kind, key)
);

-- What is due, without the finished ones; jobs due tomorrow are behind it and cost nothing.
CREATE INDEX jobs_by_readiness ON jobs (ready_ms) WHERE ready_ms IS NOT NULL;

-- What retention removes and what waits for a human.
CREATE INDEX jobs_by_end ON jobs (state, finished_ms) WHERE finished_ms IS NOT NULL;
