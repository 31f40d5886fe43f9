-- name: schedule_measurement [counted]
-- Schedule the measurement of a run; its first effect sets the time.
INSERT INTO launch_measurements (workspace_id, run_id, tenant_id, due_ms)
VALUES (:workspace_id, :run_id, :tenant_id, :due_ms)
ON CONFLICT (workspace_id, run_id) DO NOTHING
RETURNING run_id

-- name: find_measurement
-- Find when a run is or was measured, and the result.
SELECT run_id, tenant_id, asset_id, due_ms, measured_ms, body FROM launch_measurements
WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: lock_measurement [sqlite]
-- Find it for a change. The single writer is its lock.
SELECT run_id, tenant_id, asset_id, due_ms, measured_ms, body FROM launch_measurements
WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: lock_measurement [postgres]
-- Find it for a change: it stays locked until the transaction ends.
SELECT run_id, tenant_id, asset_id, due_ms, measured_ms, body FROM launch_measurements
WHERE workspace_id = :workspace_id AND run_id = :run_id
FOR UPDATE

-- name: list_run_measurements [sqlite]
-- List when some runs are or were measured, and the results.
SELECT m.run_id, m.tenant_id, m.asset_id, m.due_ms, m.measured_ms, m.body
FROM json_each(:wanted) w CROSS JOIN launch_measurements m
WHERE m.workspace_id = :workspace_id AND m.run_id = w.value

-- name: list_run_measurements [postgres]
-- As on SQLite.
SELECT m.run_id, m.tenant_id, m.asset_id, m.due_ms, m.measured_ms, m.body
FROM json_array_elements_text(CAST(:wanted AS JSON)) AS w (value)
JOIN launch_measurements m ON m.workspace_id = :workspace_id AND m.run_id = w.value

-- name: store_measurement
-- Store a measurement with its asset.
UPDATE launch_measurements SET asset_id = :asset_id, measured_ms = :measured_ms, body = :body
WHERE workspace_id = :workspace_id AND run_id = :run_id
RETURNING run_id

-- name: list_measurements
-- A tenant's measured runs, newest first.
SELECT run_id, tenant_id, asset_id, due_ms, measured_ms, body FROM launch_measurements
WHERE workspace_id = :workspace_id AND tenant_id = :tenant_id AND measured_ms IS NOT NULL
ORDER BY measured_ms DESC LIMIT :most

-- name: list_due_measurements
-- List runs that wait for their measurement, soonest first.
SELECT run_id, tenant_id, asset_id, due_ms, measured_ms, body FROM launch_measurements
WHERE workspace_id = :workspace_id AND measured_ms IS NULL
ORDER BY due_ms LIMIT :most

-- name: list_tenant_due_measurements
-- List a tenant's runs that wait for their measurement, soonest first.
SELECT run_id, tenant_id, asset_id, due_ms, measured_ms, body FROM launch_measurements
WHERE workspace_id = :workspace_id AND tenant_id = :tenant_id AND measured_ms IS NULL
ORDER BY due_ms LIMIT :most

-- name: record_manual_metrics
-- Store numbers that a person reported for a channel without an API.
INSERT INTO launch_manual_metrics (workspace_id, run_id, channel, metrics, source, recorded_ms)
VALUES (:workspace_id, :run_id, :channel, :metrics, :source, :recorded_ms)
ON CONFLICT (workspace_id, run_id, channel)
DO UPDATE SET metrics = excluded.metrics, source = excluded.source, recorded_ms = excluded.recorded_ms

-- name: list_manual_metrics
-- List the manually reported numbers of a run.
SELECT channel, metrics, source, recorded_ms FROM launch_manual_metrics
WHERE workspace_id = :workspace_id AND run_id = :run_id ORDER BY channel

-- name: list_unmeasured
-- List runs that went out and have no numbers yet, the soonest due first.
SELECT run_id, tenant_id, asset_id, due_ms, measured_ms, body FROM launch_measurements
WHERE workspace_id = :workspace_id AND measured_ms IS NULL AND due_ms > :since_ms
  AND (:tenant_id = '' OR tenant_id = :tenant_id)
ORDER BY due_ms LIMIT :most

-- name: list_read_measurements
-- List the measurements since a time, of all tenants, newest first.
SELECT run_id, tenant_id, asset_id, due_ms, measured_ms, body FROM launch_measurements
WHERE workspace_id = :workspace_id AND measured_ms > :since_ms AND measured_ms IS NOT NULL
ORDER BY measured_ms DESC LIMIT :most
