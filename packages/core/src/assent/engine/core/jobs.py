"""Durable jobs: transactions over one table.

    enqueue ──► waiting ──claim──► running ──complete──► done ──retention──► gone
                   ▲                  │
                   └──fail, retries ──┤
                                      └──fail, no retry left──► dead

`enqueue` runs inside the transaction that causes the job (an outbox), so a job exists if and only
if its cause does. A worker that claims a job holds it until the lease ends, and gets a fence. A
worker that lost its job to another has an old fence, and its writes change nothing. A key is unique
per workspace and kind while the row exists, also after the job is done.

Delivery is at least once, so handlers are idempotent. `assent.jobs.worker` runs the jobs.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec

from assent.gate.next_try import RETRY_PAUSES_MS
from assent.kernel.ids import SYSTEM_WORKSPACE, JobId, WorkspaceId, derive_uuid7
from assent.kernel.limits import CLOCKS_APART_MS, JOB_LEASE_MS, JOB_RETENTION_MS, MINUTE_MS
from assent.kernel.structs import Record, from_row
from assent.ports import Row, Transaction
from assent.sql.loader import statements

DEADLINE_MS: Final = 5 * MINUTE_MS
"""A handler that takes longer is cancelled, so that it frees its place in the runner."""

LOST_WORKERS_ALLOWED: Final = 3
"""Claims of a job whose workers die. Then it is dead, because it may be what kills them."""

MANY_LOST_WORKERS: Final = 100
"""The same for work that must not be left out."""

MOST_MISPLACED: Final = 1_000
"""Jobs ahead of their time that one look reads, the furthest first."""

MAX_ERROR_CHARS: Final = 300
"""Stored length of an error; the log has all of it."""

LOST: Final = "the worker that ran it was lost"


class JobState(enum.StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


class Job(Record):
    """A stored job. `attempts` counts the claims but for released ones, `lost` those of them whose worker
    died, `fence` all claims."""

    workspace_id: WorkspaceId
    job_id: JobId
    kind: str
    key: str
    payload: dict[str, Any]
    due_ms: int
    state: JobState
    attempts: int
    lease_until_ms: int | None
    fence: int
    worker: str | None
    last_error: str | None
    created_ms: int
    finished_ms: int | None
    lost: int = 0

    @property
    def tries(self) -> int:
        """The attempts that count for the retries: not those of workers that died."""
        return self.attempts - self.lost


class ReadyJob(Record):
    """A job that can be claimed from a time on, if its fence is still the same."""

    workspace_id: WorkspaceId
    job_id: JobId
    kind: str
    fence: int
    ready_ms: int


Handler = Callable[[Job], Awaitable[bool | None]]
"""Runs jobs of one kind. It must be idempotent, because it may run more than once for a job.
Returns True if it completed the job in its own last transaction."""


class JobKind(Record):
    """A kind of job: its handler, the delay before each retry, the lease.

    With `every_ms` the kind repeats: the runner keeps the occurrence of the next period enqueued.
    """

    run: Handler
    retry_delays_ms: tuple[int, ...] = RETRY_PAUSES_MS
    lease_ms: int = JOB_LEASE_MS
    deadline_ms: int = DEADLINE_MS
    must_run: bool = False
    """Whether it must not be left out: a server that is killed often still does it."""
    every_ms: int | None = None
    apart: bool = False
    """Whether it has its own runner, because third parties determine its duration."""

    @property
    def lost_workers(self) -> int:
        return MANY_LOST_WORKERS if self.must_run else LOST_WORKERS_ALLOWED


class JobFailed(Exception):  # noqa: N818 - what happened to the job
    """Raised by a handler. The message is stored and shown to people, so it holds no secrets."""


class JobDeferred(Exception):  # noqa: N818 - what happened to the job
    """Raised by a handler that has done nothing: the job is due later, and the attempt does not count."""

    def __init__(self, delay_ms: int) -> None:
        super().__init__(f"deferred by {delay_ms} ms")
        self.delay_ms = delay_ms


def enqueue(
    workspace_id: WorkspaceId,
    kind: str,
    key: str,
    payload: Mapping[str, Any],
    *,
    due_ms: int,
    now_ms: int,
) -> Transaction[bool]:
    """Enqueue a job within the running transaction. Returns False if the key exists."""
    rows = yield statements.insert_job(
        workspace_id=workspace_id,
        job_id=_job_id(workspace_id, kind, key, now_ms),
        kind=kind,
        key=key,
        payload=msgspec.json.encode(payload).decode(),
        due_ms=due_ms,
        now_ms=now_ms,
    )
    return bool(rows)


def enqueue_next(kind: str, every_ms: int, now_ms: int) -> Transaction[bool]:
    """Enqueue a repeating kind for the next full period, with that time as the key.

    Missed periods are not made up: the overdue job runs once.
    """
    due_ms = (now_ms // every_ms + 1) * every_ms
    key = str(due_ms)
    if (yield from enqueue(SYSTEM_WORKSPACE, kind, key, {}, due_ms=due_ms, now_ms=now_ms)):
        return True
    if (yield from find_due(SYSTEM_WORKSPACE, kind, key)) is not None:
        return False
    # It has run: the clock was set back.
    return (yield from enqueue(SYSTEM_WORKSPACE, kind, f"{key} {now_ms}", {}, due_ms=due_ms, now_ms=now_ms))


def list_ready(kinds: Mapping[str, JobKind], now_ms: int, most: int) -> Transaction[list[ReadyJob]]:
    """List the jobs of these kinds that can be claimed now; if there is none, the next one and when."""
    yield statements.plan_by_size()
    leases = msgspec.json.encode({name: kind.lease_ms for name, kind in kinds.items()}).decode()
    # One row at first: most jobs wait for a later day, and a poll follows every decision.
    rows = yield statements.list_ready_jobs(leases=leases, most=1)
    if any(row["ready_ms"] <= now_ms for row in rows):
        rows = yield statements.list_ready_jobs(leases=leases, most=most)
    # Servers that are asked apart answer in no common order.
    return [from_row(ReadyJob, row) for row in sorted(rows, key=lambda row: row["ready_ms"])]


def claim(ready: ReadyJob, lease_ms: int, now_ms: int, worker: str) -> Transaction[Job | None]:
    """Claim a job that is due or whose lease has ended. Returns None if another worker has claimed it."""
    yield statements.plan_by_size()
    rows = yield statements.claim_job(
        workspace_id=ready.workspace_id,
        job_id=ready.job_id,
        fence=ready.fence,
        now_ms=now_ms,
        lease_until_ms=now_ms + lease_ms,
        worker=worker,
        lost=LOST,
    )
    return _job(rows[0]) if rows else None


def list_misplaced(kinds: Mapping[str, JobKind], now_ms: int) -> Transaction[list[Job]]:
    """List jobs of these kinds that would be ready later than they can be, because the clock was set
    back: a lease longer than its kind's, a retry after more than its delay, a job of the future."""
    yield statements.plan_by_size()
    rows = yield statements.list_jobs_ahead(now_ms=now_ms + CLOCKS_APART_MS, most=MOST_MISPLACED)
    ahead = [_job(row) for row in rows if row["kind"] in kinds]
    return [job for job in ahead if _is_misplaced(job, kinds[job.kind], now_ms)]


def _is_misplaced(job: Job, kind: JobKind, now_ms: int) -> bool:
    if job.state is JobState.RUNNING:
        return (
            job.lease_until_ms is not None and job.lease_until_ms > now_ms + kind.lease_ms + CLOCKS_APART_MS
        )
    if kind.every_ms is not None:
        delay_ms = kind.every_ms
    elif job.tries == 0:
        delay_ms = max(0, job.due_ms - job.created_ms)
    else:
        delay_ms = ([0, *kind.retry_delays_ms])[min(job.tries, len(kind.retry_delays_ms))]
    return job.due_ms > now_ms + delay_ms + CLOCKS_APART_MS


def pull(misplaced: list[Job], now_ms: int) -> Transaction[None]:
    """Make these jobs ready now, unless they have changed."""
    for job in misplaced:
        yield statements.pull_job(
            workspace_id=job.workspace_id,
            job_id=job.job_id,
            fence=job.fence,
            state=job.state.value,
            now_ms=now_ms,
        )


def renew(job: Job, lease_until_ms: int) -> Transaction[bool]:
    """Extend the lease of a claimed job. Returns False if the job was lost to another worker."""
    yield statements.plan_by_size()
    rows = yield statements.renew_job(
        workspace_id=job.workspace_id, job_id=job.job_id, fence=job.fence, lease_until_ms=lease_until_ms
    )
    return bool(rows)


def complete(job: Job, now_ms: int) -> Transaction[bool]:
    """Mark a job done. Returns False if the job was lost to another worker."""
    return _settle(job, JobState.DONE, job.due_ms, job.attempts, job.last_error, now_ms)


def complete_with_work(job: Job, now_ms: int) -> Transaction[None]:
    """Mark a job done in the transaction of the handler's work, which then happens exactly once.

    Raises if the job was lost to another worker, so that the work is rolled back.
    """
    if not (yield from complete(job, now_ms)):
        raise JobFailed("another worker took the job over")


def fail(job: Job, now_ms: int, error: str, retry_delays_ms: tuple[int, ...]) -> Transaction[JobState | None]:
    """Record a failed attempt: the job waits for its next retry or, after the last one, is dead.

    Returns the new state, or None if the job was lost to another worker.
    """
    error = error[:MAX_ERROR_CHARS]
    if job.tries <= len(retry_delays_ms):
        due_ms = now_ms + retry_delays_ms[job.tries - 1]
        kept = yield from _settle(job, JobState.WAITING, due_ms, job.attempts, error, None)
        return JobState.WAITING if kept else None
    kept = yield from _settle(job, JobState.DEAD, job.due_ms, job.attempts, error, now_ms)
    return JobState.DEAD if kept else None


def release(job: Job, due_ms: int) -> Transaction[bool]:
    """Return a job to the queue without counting the attempt."""
    return _settle(job, JobState.WAITING, due_ms, job.attempts - 1, job.last_error, None)


def find(workspace_id: WorkspaceId, job_id: JobId) -> Transaction[Job | None]:
    rows = yield statements.find_job(workspace_id=workspace_id, job_id=job_id)
    return _job(rows[0]) if rows else None


def find_due(workspace_id: WorkspaceId, kind: str, key: str) -> Transaction[int | None]:
    """Return when an unfinished job is due; None if there is none."""
    rows = yield statements.find_open_job(workspace_id=workspace_id, kind=kind, key=key)
    return rows[0]["due_ms"] if rows else None


def list_dead(most: int) -> Transaction[list[Job]]:
    """List dead jobs for the operator of the server, newest first."""
    return [_job(row) for row in (yield statements.list_dead_jobs(most=most))]


def cancel(workspace_id: WorkspaceId, kind: str, key: str) -> Transaction[None]:
    """Delete a job that is not claimed."""
    yield statements.delete_waiting_job(workspace_id=workspace_id, kind=kind, key=key)


def restart(
    workspace_id: WorkspaceId, kind: str, key: str, payload: Mapping[str, Any], now_ms: int
) -> Transaction[None]:
    """Make a job due now with all its retries, whether it waits, has ended or is gone."""
    if not (yield statements.restart_job(workspace_id=workspace_id, kind=kind, key=key, now_ms=now_ms)):
        yield from enqueue(workspace_id, kind, key, payload, due_ms=now_ms, now_ms=now_ms)


def hasten(workspace_id: WorkspaceId, kind: str, key: str, due_ms: int) -> Transaction[None]:
    """Move the due time of a job that is not claimed forward, never back."""
    yield statements.hasten_job(workspace_id=workspace_id, kind=kind, key=key, due_ms=due_ms)


def purge_finished(now_ms: int, most: int) -> Transaction[int]:
    """Delete done jobs past their retention, which frees their keys. Returns their number."""
    return len((yield statements.purge_done_jobs(finished_before_ms=now_ms - JOB_RETENTION_MS, most=most)))


def _settle(
    job: Job, state: JobState, due_ms: int, attempts: int, last_error: str | None, finished_ms: int | None
) -> Transaction[bool]:
    yield statements.plan_by_size()
    rows = yield statements.settle_job(
        workspace_id=job.workspace_id,
        job_id=job.job_id,
        fence=job.fence,
        state=state.value,
        due_ms=due_ms,
        attempts=attempts,
        last_error=last_error,
        finished_ms=finished_ms,
    )
    return bool(rows)


def _job_id(workspace_id: WorkspaceId, kind: str, key: str, now_ms: int) -> JobId:
    """Derive the id from the unique key, so that a repeated transaction creates the same job."""
    return JobId(derive_uuid7(now_ms, msgspec.json.encode([workspace_id, kind, key])))


def _job(row: Row) -> Job:
    return from_row(Job, row, payload=msgspec.json.decode(row["payload"]), state=JobState(row["state"]))
