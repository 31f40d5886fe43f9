-- name: insert_job [counted]
-- Puts a job in the outbox of the transaction that causes it. A key that is still kept changes nothing and returns
-- no row. The id is made from the key, so a racing twin may meet either constraint first: none is named.
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, fence, created_ms)
VALUES (:workspace_id, :job_id, :kind, :key, :payload, :due_ms, 'waiting', 0, 0, :now_ms)
ON CONFLICT DO NOTHING
RETURNING job_id;

-- name: plan_by_size [postgres]
-- Plans the rest of the transaction for the table as it is now. A plan kept from when the table was small reads all of
-- it, and a burst of enqueued jobs would make every one of them slow until statistics are gathered.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true);

-- name: plan_by_size [sqlite]
-- Nothing to do: a plan does not depend on how large the table was.
SELECT 1;

-- name: next_job_ready [sqlite]
-- The moment at which the next job of the given kinds can be claimed. `leases` is a JSON object whose keys are the
-- kinds that the asking runner can run.
SELECT ready_ms FROM jobs
WHERE ready_ms IS NOT NULL AND kind IN (SELECT lease.key FROM json_each(:leases) AS lease)
ORDER BY ready_ms LIMIT 1;

-- name: next_job_ready [postgres]
-- The moment at which the next job of the given kinds can be claimed.
SELECT ready_ms FROM jobs
WHERE ready_ms IS NOT NULL AND CAST(:leases AS jsonb) ->> kind IS NOT NULL
ORDER BY ready_ms LIMIT 1;

-- name: claim_jobs [sqlite]
-- Takes jobs that are due or whose worker's lease has ended, longest ready first. `leases` gives each kind its lease;
-- kinds that are not in it belong to other runners.
UPDATE jobs SET
    state = 'running',
    attempts = attempts + 1,
    fence = fence + 1,
    lease_until_ms = :now_ms + (SELECT lease.value FROM json_each(:leases) AS lease WHERE lease.key = jobs.kind),
    worker = :worker,
    last_error = CASE state WHEN 'running' THEN :lost ELSE last_error END
WHERE rowid IN (
    SELECT rowid FROM jobs
    WHERE ready_ms <= :now_ms AND kind IN (SELECT lease.key FROM json_each(:leases) AS lease)
    ORDER BY ready_ms LIMIT :most
)
RETURNING workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker,
    last_error, created_ms, finished_ms;

-- name: claim_jobs [postgres]
-- Takes jobs that are due or whose worker's lease has ended, longest ready first, stepping over those that another
-- runner is taking right now.
WITH picked AS MATERIALIZED (
    SELECT workspace_id, job_id FROM jobs
    WHERE ready_ms <= :now_ms AND CAST(:leases AS jsonb) ->> kind IS NOT NULL
    ORDER BY ready_ms LIMIT :most
    FOR UPDATE SKIP LOCKED
)
UPDATE jobs SET
    state = 'running',
    attempts = jobs.attempts + 1,
    fence = jobs.fence + 1,
    lease_until_ms = :now_ms + CAST(CAST(:leases AS jsonb) ->> jobs.kind AS bigint),
    worker = :worker,
    last_error = CASE jobs.state WHEN 'running' THEN :lost ELSE jobs.last_error END
FROM picked
WHERE jobs.workspace_id = picked.workspace_id AND jobs.job_id = picked.job_id
RETURNING jobs.workspace_id, jobs.job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker,
    last_error, created_ms, finished_ms;

-- name: renew_job
-- Moves the end of a lease, as long as nobody else has taken the job over.
UPDATE jobs SET lease_until_ms = :lease_until_ms
WHERE workspace_id = :workspace_id AND job_id = :job_id AND fence = :fence AND state = 'running'
RETURNING job_id;

-- name: settle_job
-- Records how an attempt ended (done, dead, or waiting for another). A worker whose job was taken over has an old
-- fence and changes nothing.
UPDATE jobs SET
    state = :state,
    due_ms = :due_ms,
    attempts = :attempts,
    last_error = :last_error,
    finished_ms = :finished_ms,
    lease_until_ms = NULL
WHERE workspace_id = :workspace_id AND job_id = :job_id AND fence = :fence AND state = 'running'
RETURNING job_id;

-- name: find_job
-- One job by its id.
SELECT workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error,
    created_ms, finished_ms
FROM jobs WHERE workspace_id = :workspace_id AND job_id = :job_id;

-- name: list_dead_jobs
-- Jobs that ran out of retries, newest first: for the operator of the server, never for a caller.
SELECT workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error,
    created_ms, finished_ms
FROM jobs WHERE state = 'dead' AND finished_ms IS NOT NULL
ORDER BY finished_ms DESC, job_id LIMIT :most;

-- name: purge_done_jobs
-- Removes a batch of jobs that are done for longer than their key has to stay unique. Dead ones wait for a human.
DELETE FROM jobs
WHERE (workspace_id, job_id) IN (
    SELECT workspace_id, job_id FROM jobs
    WHERE state = 'done' AND finished_ms <= :finished_before_ms
    ORDER BY finished_ms LIMIT :most
)
RETURNING job_id;

-- name: delete_waiting_job
-- A job that is not needed any more, unless a worker has it.
DELETE FROM jobs WHERE workspace_id = :workspace_id AND kind = :kind AND key = :key AND state = 'waiting'

-- name: hasten_job
-- An earlier time for a job that nobody has claimed.
UPDATE jobs SET due_ms = :due_ms
WHERE workspace_id = :workspace_id AND kind = :kind AND key = :key AND state = 'waiting' AND due_ms > :due_ms

-- name: find_open_job
-- When a job that waits or runs is due, by its key.
SELECT due_ms FROM jobs
WHERE workspace_id = :workspace_id AND kind = :kind AND key = :key AND state IN ('waiting', 'running');
