"""Durable jobs: work that outlives the call that caused it, as transactions over one table.

    enqueue ──► waiting ──claim──► running ──complete──► done ──retention──► gone
                   ▲                  │
                   ├──fail, retries ──┤
                   │                  └──fail, no retry left──► dead
                   └───────────revive by a human──────────────────┘

`enqueue` runs inside the transaction that causes the job: it is the outbox, so a job exists if and only if
its cause does. Whoever claims a job holds it until its lease ends and has its fence; a worker that lost its
job to another has an old fence, and nothing it writes changes anything. A key is unique per workspace and
kind for as long as the row is kept, also after the job is done.

Delivery is at least once: handlers are idempotent. Deliberately unaware of what a kind does, of when anybody
wakes up, and of processes: `assent.jobs.worker` runs what is here.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec

from assent.kernel.ids import RANDOM_BYTES, SYSTEM_WORKSPACE, JobId, WorkspaceId, uuid7
from assent.kernel.limits import HOUR_MS, JOB_LEASE_MS, JOB_RETENTION_MS, MINUTE_MS, SECOND_MS
from assent.ports import Row, Rows, Transaction
from assent.sql.loader import statements

STANDARD_RETRIES_MS: Final = (10 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS)
"""For kinds without a reason to differ: over most hiccups in a minute, and over an outage of an afternoon."""

DEADLINE_MS: Final = 5 * MINUTE_MS
"""A handler that takes longer hangs: without an end it would keep its place in the runner for ever."""

LOST_WORKERS_ALLOWED: Final = 3
"""Claims beyond its schedule that a job gets when workers die with it: one that kills them all ends too."""

MAX_ERROR_CHARS: Final = 300
"""What is kept of an error: enough for a human to know what to look for, the rest is in the log."""

LOST: Final = "the worker that ran it was lost"


class JobState(enum.StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


class Job(msgspec.Struct, frozen=True):
    """A job as stored. `attempts` counts claims since it was enqueued or revived, `fence` all claims."""

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


Handler = Callable[[Job], Awaitable[None]]
"""Does the work of one kind. It may run more than once for the same job, so a second run changes nothing."""


class JobKind(msgspec.Struct, frozen=True):
    """How one kind is run: its handler, the wait before each retry, how long a silent worker counts as alive.

    With `every_ms` the kind repeats: the runner keeps the occurrence of the next period enqueued.
    """

    run: Handler
    retry_delays_ms: tuple[int, ...] = STANDARD_RETRIES_MS
    lease_ms: int = JOB_LEASE_MS
    deadline_ms: int = DEADLINE_MS
    every_ms: int | None = None
    apart: bool = False
    """Whether it has a runner of its own, because how long it takes is in the hands of strangers: nothing else waits
    for them."""


class JobFailed(Exception):  # noqa: N818 - what happened to the job
    """Raised by a handler to say why in words that a human may read. They are stored: no secrets."""


def enqueue(
    workspace_id: WorkspaceId,
    kind: str,
    key: str,
    payload: Mapping[str, Any],
    *,
    due_ms: int,
    now_ms: int,
) -> Transaction[bool]:
    """Put a job in the outbox of the running transaction; false when the key is already kept."""
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
    """Enqueue the occurrence of a repeating kind at the next full period; its key is that moment.

    Periods that passed while nothing ran are not caught up with: the overdue occurrence runs once, late.
    """
    due_ms = (now_ms // every_ms + 1) * every_ms
    return (yield from enqueue(SYSTEM_WORKSPACE, kind, str(due_ms), {}, due_ms=due_ms, now_ms=now_ms))


def next_ready(kinds: Mapping[str, JobKind]) -> Transaction[int | None]:
    """When the next job of these kinds can be claimed: its due time, or the end of the lease it is under."""
    yield statements.plan_by_size()
    rows = yield statements.next_job_ready(leases=_leases(kinds))
    return rows[0]["ready_ms"] if rows else None


def claim_due(kinds: Mapping[str, JobKind], now_ms: int, most: int, worker: str) -> Transaction[list[Job]]:
    """Take jobs of these kinds that are due or whose worker's lease has ended, longest ready first."""
    yield statements.plan_by_size()
    rows = yield statements.claim_jobs(
        leases=_leases(kinds), now_ms=now_ms, most=most, worker=worker, lost=LOST
    )
    return sorted(_jobs(rows), key=lambda job: (job.due_ms, job.job_id))


def renew(job: Job, lease_until_ms: int) -> Transaction[bool]:
    """Hold a claimed job for longer; false when it is not ours any more."""
    yield statements.plan_by_size()
    rows = yield statements.renew_job(
        workspace_id=job.workspace_id, job_id=job.job_id, fence=job.fence, lease_until_ms=lease_until_ms
    )
    return bool(rows)


def complete(job: Job, now_ms: int) -> Transaction[bool]:
    """Record that the work is done; false when the job is not ours any more.

    A handler may do this inside its own last transaction and raise on false: then its effects on the store
    are there once, however often it ran.
    """
    return _settle(job, JobState.DONE, job.due_ms, job.attempts, job.last_error, now_ms)


def fail(job: Job, now_ms: int, error: str, retry_delays_ms: tuple[int, ...]) -> Transaction[JobState | None]:
    """Record a failed attempt: the job waits for its next retry or, after the last one, is dead.

    Returns the new state; None when the job is not ours any more.
    """
    error = error[:MAX_ERROR_CHARS]
    if job.attempts <= len(retry_delays_ms):
        due_ms = now_ms + retry_delays_ms[job.attempts - 1]
        kept = yield from _settle(job, JobState.WAITING, due_ms, job.attempts, error, None)
        return JobState.WAITING if kept else None
    kept = yield from _settle(job, JobState.DEAD, job.due_ms, job.attempts, error, now_ms)
    return JobState.DEAD if kept else None


def release(job: Job, due_ms: int) -> Transaction[bool]:
    """Give a job back without counting the attempt, because it ended for a reason that is not the job's."""
    return _settle(job, JobState.WAITING, due_ms, job.attempts - 1, job.last_error, None)


def exceeds_losses(job: Job, retry_delays_ms: tuple[int, ...]) -> bool:
    """Whether so many workers died with this job that it should not be given to another."""
    return job.attempts > len(retry_delays_ms) + 1 + LOST_WORKERS_ALLOWED


def find(workspace_id: WorkspaceId, job_id: JobId) -> Transaction[Job | None]:
    """One job."""
    rows = yield statements.find_job(workspace_id=workspace_id, job_id=job_id)
    return _job(rows[0]) if rows else None


def due_of(workspace_id: WorkspaceId, kind: str, key: str) -> Transaction[int | None]:
    """When a job that has not ended is due; None where there is none."""
    rows = yield statements.find_open_job(workspace_id=workspace_id, kind=kind, key=key)
    return rows[0]["due_ms"] if rows else None


def list_dead(most: int) -> Transaction[list[Job]]:
    """Jobs that wait for the operator of the server, newest first."""
    return _jobs((yield statements.list_dead_jobs(most=most)))


def cancel(workspace_id: WorkspaceId, kind: str, key: str) -> Transaction[None]:
    """Take back a job that nobody has claimed: what it was to look after has ended well."""
    yield statements.delete_waiting_job(workspace_id=workspace_id, kind=kind, key=key)


def hasten(workspace_id: WorkspaceId, kind: str, key: str, due_ms: int) -> Transaction[None]:
    """Let a job that nobody has claimed run earlier than planned, never later."""
    yield statements.hasten_job(workspace_id=workspace_id, kind=kind, key=key, due_ms=due_ms)


def purge_finished(now_ms: int, most: int) -> Transaction[int]:
    """Remove done jobs past their retention and with them the uniqueness of their keys; returns how many."""
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


def _leases(kinds: Mapping[str, JobKind]) -> str:
    return msgspec.json.encode({name: kind.lease_ms for name, kind in kinds.items()}).decode()


def _job_id(workspace_id: WorkspaceId, kind: str, key: str, now_ms: int) -> JobId:
    """Made from what is unique anyway, so that a transaction that is run again makes the same job."""
    name = msgspec.json.encode([workspace_id, kind, key])
    return JobId(uuid7(now_ms, hashlib.sha256(name).digest()[:RANDOM_BYTES]))


def _jobs(rows: Rows) -> list[Job]:
    return [_job(row) for row in rows]


def _job(row: Row) -> Job:
    return Job(
        workspace_id=WorkspaceId(row["workspace_id"]),
        job_id=JobId(row["job_id"]),
        kind=row["kind"],
        key=row["key"],
        payload=msgspec.json.decode(row["payload"]),
        due_ms=row["due_ms"],
        state=JobState(row["state"]),
        attempts=row["attempts"],
        lease_until_ms=row["lease_until_ms"],
        fence=row["fence"],
        worker=row["worker"],
        last_error=row["last_error"],
        created_ms=row["created_ms"],
        finished_ms=row["finished_ms"],
    )
