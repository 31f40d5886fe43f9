-- Jobs that are not yet ready and may have been placed by a clock that was wrong: all but measurements that wait for
-- their day.
CREATE INDEX jobs_ahead ON jobs (ready_ms)
WHERE ready_ms IS NOT NULL AND (state = 'running' OR attempts > 0 OR kind <> 'measure_run');
