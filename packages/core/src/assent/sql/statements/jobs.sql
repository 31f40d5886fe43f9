-- name: insert_job [counted]
-- Insert a job in the transaction that causes it. A key that exists changes nothing and returns no row. The id is made
-- from the key, so a concurrent insert may violate either constraint: none is named.
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, fence, created_ms)
VALUES (:workspace_id, :job_id, :kind, :key, :payload, :due_ms, 'waiting', 0, 0, :now_ms)
ON CONFLICT DO NOTHING
RETURNING job_id;

-- name: plan_by_size [postgres]
-- Plan the rest of the transaction for the present size of the table. A plan cached from a small table scans all of it,
-- and a burst of jobs would be slow until statistics are gathered.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true);

-- name: plan_by_size [sqlite]
-- Nothing to do: plans do not depend on the table's size.
SELECT 1;

-- name: list_ready_jobs [sqlite]
-- List the jobs of the given kinds that can be claimed first, also those that cannot yet. The keys of the JSON object
-- `leases` are the kinds of this runner.
SELECT workspace_id, job_id, kind, fence, ready_ms FROM jobs
WHERE ready_ms IS NOT NULL AND kind IN (SELECT lease.key FROM json_each(:leases) AS lease)
ORDER BY ready_ms LIMIT :most;

-- name: list_ready_jobs [postgres]
-- List the jobs of the given kinds that can be claimed first, also those that cannot yet.
SELECT workspace_id, job_id, kind, fence, ready_ms FROM jobs
WHERE ready_ms IS NOT NULL AND CAST(:leases AS jsonb) ->> kind IS NOT NULL
ORDER BY ready_ms LIMIT :most;

-- name: claim_job
-- Claim a job that is due or whose lease has ended, unless another runner has claimed it. By its key, so that it is on
-- one shard, and no lock is held on others.
UPDATE jobs SET
    state = 'running',
    attempts = attempts + 1,
    lost = lost + CASE WHEN state = 'running' THEN 1 ELSE 0 END,
    fence = fence + 1,
    lease_until_ms = :lease_until_ms,
    worker = :worker,
    last_error = CASE WHEN state = 'running' THEN :lost ELSE last_error END
WHERE workspace_id = :workspace_id AND job_id = :job_id AND fence = :fence AND ready_ms <= :now_ms
RETURNING workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker,
    last_error, created_ms, finished_ms, lost;

-- name: list_jobs_ahead
-- List jobs that are ready after a time, the furthest first, but for measurements that wait for their day: these are
-- many. The condition is that of the index `jobs_ahead`.
SELECT workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error,
    created_ms, finished_ms, lost
FROM jobs
WHERE ready_ms > :now_ms AND (state = 'running' OR attempts > 0 OR kind <> 'measure_run')
ORDER BY ready_ms DESC LIMIT :most;

-- name: pull_job
-- Make a job ready now, unless a worker has claimed, ended or renewed it in between.
UPDATE jobs SET
    due_ms = CASE WHEN state = 'waiting' THEN :now_ms ELSE due_ms END,
    lease_until_ms = CASE WHEN state = 'running' THEN :now_ms END
WHERE workspace_id = :workspace_id AND job_id = :job_id AND fence = :fence AND state = :state AND ready_ms > :now_ms;

-- name: renew_job
-- Extend a lease, unless another worker has claimed the job.
UPDATE jobs SET lease_until_ms = :lease_until_ms
WHERE workspace_id = :workspace_id AND job_id = :job_id AND fence = :fence AND state = 'running'
RETURNING job_id;

-- name: settle_job
-- Record the end of an attempt: done, dead, or waiting for another. A worker that lost the job has an old fence and
-- changes nothing.
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
    created_ms, finished_ms, lost
FROM jobs WHERE workspace_id = :workspace_id AND job_id = :job_id;

-- name: list_dead_jobs
-- List jobs without retries left, newest first: for the server's operator, never for a caller.
SELECT workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error,
    created_ms, finished_ms, lost
FROM jobs WHERE state = 'dead' AND finished_ms IS NOT NULL
ORDER BY finished_ms DESC, job_id LIMIT :most;

-- name: purge_done_jobs
-- Delete a batch of done jobs whose key need not stay unique. Dead ones wait for a person.
DELETE FROM jobs
WHERE (workspace_id, job_id) IN (
    SELECT workspace_id, job_id FROM jobs
    WHERE state = 'done' AND finished_ms <= :finished_before_ms
    ORDER BY finished_ms LIMIT :most
)
RETURNING job_id;

-- name: delete_waiting_job
-- Delete a job that is not needed, unless a worker has it.
DELETE FROM jobs WHERE workspace_id = :workspace_id AND kind = :kind AND key = :key AND state = 'waiting'

-- name: hasten_job
-- Move an unclaimed job to an earlier time.
UPDATE jobs SET due_ms = :due_ms
WHERE workspace_id = :workspace_id AND kind = :kind AND key = :key AND state = 'waiting' AND due_ms > :due_ms

-- name: restart_job
-- Make a job due now with all its retries, also one that has ended, unless a worker has it.
UPDATE jobs SET state = 'waiting', due_ms = :now_ms, attempts = 0, lost = 0, finished_ms = NULL, lease_until_ms = NULL
WHERE workspace_id = :workspace_id AND kind = :kind AND key = :key AND state <> 'running'
RETURNING job_id;

-- name: find_open_job
-- Find when a waiting or running job is due, by its key.
SELECT due_ms FROM jobs
WHERE workspace_id = :workspace_id AND kind = :kind AND key = :key AND state IN ('waiting', 'running');

-- name: count_jobs
-- Count the jobs that are not done, by state and by whether they are due, for metrics.
SELECT state, CASE WHEN due_ms <= :now_ms THEN 1 ELSE 0 END AS due, count(*) AS jobs, min(due_ms) AS oldest_ms
FROM jobs WHERE state <> 'done' GROUP BY 1, 2 ORDER BY 1, 2
