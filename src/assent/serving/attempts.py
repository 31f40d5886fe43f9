"""One attempt at one job: the handler under its lease and its deadline, and what its end means.

    returned               done
    raised                 retried on the schedule of its kind, then dead
    StoreUnavailable       given back without counting the attempt: the job is not to blame
    took too long          cancelled, counts as raised
    taken over by another  cancelled, nothing recorded
    abandoned              cancelled because the server stops, given back without counting

Deliberately unaware of who claims jobs and when.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from functools import partial
from pathlib import Path
from typing import Any, Final

from assent.engine import jobs
from assent.engine.jobs import Job, JobFailed, JobKind, JobState
from assent.kernel.limits import SECOND_MS
from assent.kernel.refusals import Refusal
from assent.ports import Begin, Clock, Store, StoreUnavailable

RENEWALS_PER_LEASE: Final = 3
"""A living worker may miss two renewals before its job is taken over."""

CANCEL_SECONDS: Final = 5.0
"""What a cancelled handler gets to clean up before it is left behind."""

MAX_BACKOFF_MS: Final = 5 * SECOND_MS
"""How late it is noticed that the database is back."""

_log = logging.getLogger(__name__)


class Attempts:
    """Runs claimed jobs to their end. `poll_ms` is the first wait for a database that is away."""

    def __init__(self, store: Store, clock: Clock, poll_ms: int) -> None:
        self._store = store
        self._clock = clock
        self._poll_ms = poll_ms
        self._stopping = asyncio.Event()
        self._abandoned = False
        self._handlers: set[asyncio.Task[None]] = set()

    def stop(self) -> None:
        """Wait for no database any more: a job whose end cannot be recorded is left to its lease."""
        self._stopping.set()

    def abandon(self) -> None:
        """Cancel every handler; what it was doing is given back."""
        self._abandoned = True
        for handler in self._handlers:
            handler.cancel()

    async def run(self, job: Job, kind: JobKind) -> None:
        """Run a job that was just claimed and record how it ended."""
        if jobs.lost_too_often(job, kind.retry_delays_ms):
            await self._record(self._failed(job, kind, jobs.LOST))
            return
        handler = asyncio.create_task(self._call(job, kind))
        self._handlers.add(handler)
        try:
            ending = await self._watch(handler, job, kind)
        finally:
            self._handlers.discard(handler)
            await _end(handler)
        if ending is not None:
            await self._record(ending)

    async def _call(self, job: Job, kind: JobKind) -> None:
        if kind.every_ms is not None:
            # Before the work, so that a failing occurrence does not end the series.
            await self._store.write(partial(jobs.enqueue_next, job.kind, kind.every_ms, self._clock.now_ms()))
        await kind.run(job)

    async def _watch(self, handler: asyncio.Task[None], job: Job, kind: JobKind) -> Begin[Any] | None:
        """Renew the lease until the handler ends. Returns the transaction that records its end, or None."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + kind.deadline_ms / SECOND_MS
        renewal = kind.lease_ms / SECOND_MS / RENEWALS_PER_LEASE
        while not handler.done():
            left = ends - loop.time()
            if left <= 0:
                return self._failed(job, kind, f"took longer than {kind.deadline_ms / SECOND_MS:g} s")
            await asyncio.wait({handler}, timeout=min(renewal, left))
            if not handler.done() and not await self._renew(job, kind):
                _log.warning("job %s of kind %s was taken over by another worker", job.job_id, job.kind)
                return None
        return self._ended(handler, job, kind)

    async def _renew(self, job: Job, kind: JobKind) -> bool:
        try:
            return await self._store.write(partial(jobs.renew, job, self._clock.now_ms(), kind.lease_ms))
        except StoreUnavailable:
            return True  # not known to be lost; the next renewal tells

    def _ended(self, handler: asyncio.Task[None], job: Job, kind: JobKind) -> Begin[Any]:
        now_ms = self._clock.now_ms()
        if handler.cancelled():
            if self._abandoned:
                return partial(jobs.release, job, now_ms)
            return self._failed(job, kind, "cancelled")
        error = handler.exception()
        if error is None:
            return partial(jobs.complete, job, now_ms)
        log_failure(f"job {job.job_id} of kind {job.kind} failed in attempt {job.attempts}", error)
        if isinstance(error, StoreUnavailable):
            return partial(jobs.release, job, now_ms + self._poll_ms)
        return self._failed(job, kind, describe(error))

    def _failed(self, job: Job, kind: JobKind, error: str) -> Begin[JobState | None]:
        if job.attempts > len(kind.retry_delays_ms):
            _log.error("job %s of kind %s is dead and waits for a human: %s", job.job_id, job.kind, error)
        return partial(jobs.fail, job, self._clock.now_ms(), error, kind.retry_delays_ms)

    async def _record(self, ending: Begin[Any]) -> None:
        """Write how a job ended, as soon as the database is there."""
        failures = 0
        while True:
            try:
                await self._store.write(ending)
                return
            except StoreUnavailable as error:
                log_failure("the end of a job cannot be recorded yet", error)
                if self._stopping.is_set():
                    return
                await wait(self._stopping, backoff_ms(self._poll_ms, failures))
                failures += 1


def describe(error: BaseException) -> str:
    """What may be stored about an error: our own words, a reason, or the place it came from.

    Never the message of somebody else's error, which may quote a secret.
    """
    if isinstance(error, JobFailed):
        return str(error)
    if isinstance(error, Refusal):
        return f"refused: {error.reason.value}"
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"


def backoff_ms(first_ms: int, failures: int) -> int:
    """The wait after so many failures in a row: doubled each time, up to a bound."""
    return min(first_ms << min(failures, 16), MAX_BACKOFF_MS)


async def wait(event: asyncio.Event, most_ms: int) -> None:
    """Until the event is set, for so long at most."""
    try:
        async with asyncio.timeout(most_ms / SECOND_MS):
            await event.wait()
    except TimeoutError:
        return


def log_failure(what: str, error: BaseException) -> None:
    """A database that is away is an event of the world, anything else an error with its traceback."""
    if isinstance(error, StoreUnavailable):
        _log.warning("%s: the store is unavailable: %s", what, error)
    else:
        _log.error("%s", what, exc_info=error)


async def _end(handler: asyncio.Task[None]) -> None:
    """Cancel a handler that still runs and see it out; one that does not listen is left behind."""
    if handler.done():
        return
    handler.cancel()
    await asyncio.wait({handler}, timeout=CANCEL_SECONDS)
    if handler.done() and not handler.cancelled() and (error := handler.exception()) is not None:
        log_failure("a cancelled job failed while it cleaned up", error)
