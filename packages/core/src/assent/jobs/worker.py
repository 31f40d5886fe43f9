"""The runner of durable jobs: claims due jobs and runs a bounded number at a time.

It polls when the next job is due, after `wake`, and at least every `POLL_MS`, because other
processes enqueue too. The clock that is passed in decides whether a job is due or a lease has
ended; real time only bounds the wait between polls.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from assent.engine.core import jobs
from assent.engine.core.jobs import Handler, Job, JobDeferred, JobFailed, JobKind, JobState, ReadyJob
from assent.kernel.limits import SECOND_MS, SHUTDOWN_GRACE_SECONDS
from assent.kernel.refusals import Refusal
from assent.ports import Begin, Clock, Store, StoreUnavailable, Transaction

log = logging.getLogger(__name__)

CONCURRENCY: Final = 8
"""Concurrent jobs of one process. They mostly wait for providers."""

CONCURRENCY_APART: Final = 32
"""Concurrent jobs that depend on third parties. More, because some may hang."""

CHECK_SECONDS: Final = 60.0
"""How often jobs are looked for that a wrong clock placed too far ahead."""

POLL_MS: Final = 1 * SECOND_MS
"""Longest delay of a job that another process enqueued."""

LOOKED_AT: Final = 4
"""Jobs that a poll reads for each that it can run: other runners try the same ones."""

SWEEP_BATCH: Final = 500
"""Rows that one sweep transaction deletes. Bounded, because other writers wait for it."""

Sweep = Callable[[int, int], Transaction[int]]
"""`(now_ms, most)`: deletes at most that many expired rows and returns the number deleted."""


class Runner:
    """Runs the jobs of the given kinds over one store, on one event loop. It cannot be
    restarted."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        kinds: Mapping[str, JobKind],
        *,
        worker: str,
        concurrency: int = CONCURRENCY,
        poll_ms: int = POLL_MS,
        grace_seconds: float = SHUTDOWN_GRACE_SECONDS,
    ) -> None:
        self._store = store
        self._clock = clock
        self._kinds = dict(kinds)
        self._worker = worker
        self._concurrency = concurrency
        self._poll_ms = poll_ms
        self._grace_seconds = grace_seconds
        self._woken = asyncio.Event()
        self._stopping = asyncio.Event()
        self._running: dict[asyncio.Task[None], JobAttempt] = {}
        self._polled_ms = 0
        self._checked_seconds: float | None = None

    def wake(self) -> None:
        """Poll now, because a job was enqueued in this process."""
        self._woken.set()

    def stop(self) -> None:
        """Stop claiming. `run` returns when the running jobs end, or after the grace period."""
        self._stopping.set()
        self._woken.set()

    async def run(self) -> None:
        """Run jobs until `stop`. Waits while the database is unavailable."""
        failures, repeating = 0, False
        try:
            while not self._stopping.is_set():
                self._woken.clear()
                try:
                    if not repeating:
                        await self._enqueue_repeating()
                        repeating = True
                    wait_ms, failures = await self._start_due(), 0
                except Exception as error:
                    log_failure("jobs cannot be claimed", error)
                    wait_ms, failures = backoff_ms(self._poll_ms, failures), failures + 1
                if not self._stopping.is_set():
                    await wait(self._woken, wait_ms)
            await self._let_finish()
        finally:
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)

    async def run_due_once(self) -> int:
        """Claim due jobs, up to the concurrency limit, and run them. Returns their number."""
        now_ms = self._clock.now_ms()
        await self._pull_misplaced(now_ms)
        ready = await self._store.read(partial(jobs.list_ready, self._kinds, now_ms, self._concurrency))
        claimed = await claim_due(self._store, self._kinds, ready, now_ms, self._concurrency, self._worker)
        await asyncio.gather(*(self._attempt(job).run() for job in claimed))
        return len(claimed)

    async def _enqueue_repeating(self) -> None:
        for name, kind in self._kinds.items():
            if kind.every_ms is not None:
                await self._store.write(partial(jobs.enqueue_next, name, kind.every_ms, self._clock.now_ms()))

    async def _start_due(self) -> int:
        """Start the due jobs. Returns the milliseconds until the next poll."""
        free = self._concurrency - len(self._list_at_work())
        if free == 0:
            return self._poll_ms
        now_ms = self._clock.now_ms()
        await self._pull_misplaced(now_ms)
        # A poll is a read, so an idle runner takes no lock.
        ready = await self._store.read(partial(jobs.list_ready, self._kinds, now_ms, LOOKED_AT * free))
        if not ready or ready[0].ready_ms > now_ms:
            return min(self._poll_ms, ready[0].ready_ms - now_ms) if ready else self._poll_ms
        # The same time for both, so that the runner never takes a job from itself.
        listed = {each.job_id for each in ready}
        for attempt in list(self._running.values()):
            if attempt.job_id in listed:
                await attempt.renew_if_overdue(now_ms)
        claimed = await claim_due(self._store, self._kinds, ready, now_ms, free, self._worker)
        for job in claimed:
            attempt = self._attempt(job)
            task = asyncio.create_task(attempt.run())
            self._running[task] = attempt
            task.add_done_callback(self._release_slot)
        # A job was ready but could not be claimed: another runner has it.
        return 0 if claimed else self._poll_ms

    async def _pull_misplaced(self, now_ms: int) -> None:
        """Make jobs ready that a clock placed too far ahead: first, when the clock was set back, and every
        `CHECK_SECONDS`, because the clock of another process may be wrong."""
        now_seconds = asyncio.get_running_loop().time()
        checked, set_back = self._checked_seconds, now_ms < self._polled_ms
        self._polled_ms = now_ms
        if checked is not None and not set_back and now_seconds - checked < CHECK_SECONDS:
            return
        for attempt in self._list_at_work():
            await attempt.renew_if_overdue(now_ms)
        misplaced = await self._store.read(partial(jobs.list_misplaced, self._kinds, now_ms))
        if misplaced:
            log.warning("%d jobs are ready now, because the clock was set back", len(misplaced))
            await self._store.write(partial(jobs.pull, misplaced, now_ms))
        self._checked_seconds = now_seconds

    def _list_at_work(self) -> list[JobAttempt]:
        """The attempts that take a place. Those that wait for a part of the database keep no job of another part."""
        return [attempt for attempt in self._running.values() if not attempt.is_held_up]

    def _attempt(self, job: Job) -> JobAttempt:
        return JobAttempt(
            self._store,
            self._clock,
            job,
            self._kinds[job.kind],
            poll_ms=self._poll_ms,
            stopping=self._stopping,
        )

    def _release_slot(self, task: asyncio.Task[None]) -> None:
        del self._running[task]
        self._woken.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log_failure("the end of a job could not be recorded", error)

    async def _let_finish(self) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=self._grace_seconds)
        for attempt in self._running.values():
            attempt.abandon()
        if self._running:
            await asyncio.wait(self._running, timeout=CANCEL_SECONDS)


async def claim_due(
    store: Store, kinds: Mapping[str, JobKind], ready: list[ReadyJob], now_ms: int, most: int, worker: str
) -> list[Job]:
    """Claim jobs that are due or whose lease has ended, the longest ready first. Each is a transaction of its own, so
    that a part of the database that does not answer keeps only its own jobs. Raises if none could be tried."""
    due = [each for each in ready if each.ready_ms <= now_ms]
    claimed: list[Job] = []
    failed: list[BaseException] = []
    while due and len(claimed) < most:
        batch, due = due[: most - len(claimed)], due[most - len(claimed) :]
        found = await asyncio.gather(
            *(
                store.write(partial(jobs.claim, each, kinds[each.kind].lease_ms, now_ms, worker))
                for each in batch
            ),
            return_exceptions=True,
        )
        claimed += [each for each in found if isinstance(each, Job)]
        failed += [each for each in found if isinstance(each, BaseException)]
    if failed and not claimed:
        raise failed[0]
    for error in failed:
        log.warning("a job cannot be claimed: %s", error)
    return sorted(claimed, key=lambda job: (job.due_ms, job.job_id))


def sweeping(store: Store, clock: Clock, sweep: Sweep, batch: int = SWEEP_BATCH) -> Handler:
    """Return a handler that deletes all expired rows, one batch per transaction."""

    async def run(job: Job) -> None:
        now_ms = clock.now_ms()
        while await store.write(partial(sweep, now_ms, batch)) >= batch:
            pass

    return run


# One attempt at a job: the handler under its lease and deadline, and the meaning of its end.
#
#     returned               done, unless the handler recorded that itself
#     raised                 retried on the schedule of its kind, then dead
#     JobDeferred            released for later without counting the attempt
#     StoreUnavailable       released without counting the attempt
#     took too long          cancelled, counts as raised
#     taken over by another  cancelled, nothing recorded
#     abandoned              cancelled because the server stops, released without counting

RENEWALS_PER_LEASE: Final = 3
"""A live worker may miss two renewals before its job is taken over."""

CANCEL_SECONDS: Final = 5.0
"""Time for a cancelled handler to clean up before it is abandoned."""

MAX_BACKOFF_MS: Final = 5 * SECOND_MS
"""Longest delay until a recovered database is noticed."""

_log = logging.getLogger(__name__)


class JobAttempt:
    """A claimed job, from its handler's start until its end is recorded.

    `poll_ms` is the first wait for an unavailable database. Once `stopping` is set there is no
    wait, and a job whose end cannot be recorded is left to its lease.
    """

    def __init__(
        self, store: Store, clock: Clock, job: Job, kind: JobKind, *, poll_ms: int, stopping: asyncio.Event
    ) -> None:
        self._store = store
        self._clock = clock
        self._job = job
        self._kind = kind
        self._poll_ms = poll_ms
        self._stopping = stopping
        self._lease_until_ms = job.lease_until_ms or 0
        self.job_id = job.job_id
        self._abandoned = False
        self.is_held_up = False
        """Whether nothing is left but to record its end, and the database did not take that."""
        self._handler: asyncio.Task[bool | None] | None = None

    async def run(self) -> None:
        """Run the handler and record its end."""
        if self._job.lost > self._kind.lost_workers:
            _log.error("job %s (%s) is dead: %s", self._job.job_id, self._job.kind, jobs.LOST)
            await self._record(partial(jobs.fail, self._job, self._clock.now_ms(), jobs.LOST, ()))
            return
        handler = self._handler = asyncio.create_task(self._call())
        try:
            ending = await self._watch(handler)
        finally:
            await _end(handler)
        if ending is not None:
            await self._record(ending)

    def abandon(self) -> None:
        """Cancel the handler and release the job."""
        self._abandoned = True
        if self._handler is not None:
            self._handler.cancel()

    async def renew_if_overdue(self, now_ms: int) -> None:
        """Renew a lease that looks expired because the clock jumped or the machine slept."""
        if not now_ms < self._lease_until_ms <= now_ms + self._kind.lease_ms:
            await self._renew()

    async def _call(self) -> bool | None:
        job, every_ms = self._job, self._kind.every_ms
        if every_ms is not None:
            # Before the work, so that a failed run does not end the series.
            await self._store.write(partial(jobs.enqueue_next, job.kind, every_ms, self._clock.now_ms()))
        return await self._kind.run(job)

    async def _watch(self, handler: asyncio.Task[bool | None]) -> Begin[Any] | None:
        """Renew the lease until the handler ends. Returns the transaction of its end, or None."""
        loop = asyncio.get_running_loop()
        limit_seconds = self._kind.deadline_ms / SECOND_MS
        renewal_seconds = self._kind.lease_ms / SECOND_MS / RENEWALS_PER_LEASE
        ends = loop.time() + limit_seconds
        while not handler.done():
            left = ends - loop.time()
            if left <= 0:
                return self._retry_or_fail(f"took longer than {limit_seconds:g} s")
            await asyncio.wait({handler}, timeout=min(renewal_seconds, left))
            if not handler.done() and not await self._renew():
                _log.warning("job %s (%s) was taken over by another worker", self._job.job_id, self._job.kind)
                return None
        return self._conclude(handler)

    async def _renew(self) -> bool:
        lease_until_ms = self._clock.now_ms() + self._kind.lease_ms
        try:
            held = await self._store.write(partial(jobs.renew, self._job, lease_until_ms))
        except StoreUnavailable:
            return True  # perhaps not lost; the next renewal decides
        self._lease_until_ms = lease_until_ms
        return held

    def _conclude(self, handler: asyncio.Task[bool | None]) -> Begin[Any] | None:
        job, now_ms = self._job, self._clock.now_ms()
        if handler.cancelled():
            return partial(jobs.release, job, now_ms) if self._abandoned else self._retry_or_fail("cancelled")
        error = handler.exception()
        if error is None:
            return None if handler.result() else partial(jobs.complete, job, now_ms)
        if isinstance(error, JobDeferred):
            return partial(jobs.release, job, now_ms + error.delay_ms)
        log_failure(f"job {job.job_id} ({job.kind}) failed in attempt {job.attempts}", error)
        if isinstance(error, StoreUnavailable):
            return partial(jobs.release, job, now_ms + self._poll_ms)
        return self._retry_or_fail(describe(error))

    def _retry_or_fail(self, error: str) -> Begin[JobState | None]:
        job, delays_ms = self._job, self._kind.retry_delays_ms
        if job.tries > len(delays_ms):
            _log.error("job %s (%s) is dead and waits for a human: %s", job.job_id, job.kind, error)
        return partial(jobs.fail, job, self._clock.now_ms(), error, delays_ms)

    async def _record(self, ending: Begin[Any]) -> None:
        """Record the end of the job as soon as the database is available."""
        failures = 0
        while True:
            try:
                await self._store.write(ending)
                return
            except StoreUnavailable as error:
                self.is_held_up = True
                log_failure("the end of a job cannot be recorded yet", error)
                if self._stopping.is_set():
                    return
                await wait(self._stopping, backoff_ms(self._poll_ms, failures))
                failures += 1


def describe(error: BaseException) -> str:
    """Describe an error for the store: our own message, a reason, or the place it came from.

    Never the message of a third-party error, which may quote a secret.
    """
    if isinstance(error, JobFailed):
        return str(error)
    if isinstance(error, Refusal):
        return f"refused: {error.reason.value}"
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"


def backoff_ms(first_ms: int, failures: int) -> int:
    """Return the wait after so many failures in a row: doubled each time, up to a bound."""
    return min(first_ms << min(failures, 16), MAX_BACKOFF_MS)


async def wait(event: asyncio.Event, most_ms: int) -> None:
    """Wait for the event, at most `most_ms`."""
    try:
        async with asyncio.timeout(most_ms / SECOND_MS):
            await event.wait()
    except TimeoutError:
        return


def log_failure(what: str, error: BaseException) -> None:
    """Log an unavailable database or server as a warning, any other error with its traceback."""
    if isinstance(error, StoreUnavailable):
        _log.warning("%s: the store is unavailable: %s", what, error)
    elif isinstance(error, JobFailed):
        _log.warning("%s: %s", what, error)
    else:
        _log.error("%s", what, exc_info=error)


async def _end(handler: asyncio.Task[bool | None]) -> None:
    """Cancel a handler and wait for its end. One that ignores this is abandoned."""
    if handler.done():
        return
    handler.cancel()
    await asyncio.wait({handler}, timeout=CANCEL_SECONDS)
    if handler.done() and not handler.cancelled() and (error := handler.exception()) is not None:
        log_failure("a cancelled job failed while it cleaned up", error)
