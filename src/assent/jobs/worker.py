"""The runner of durable jobs: claims due jobs and runs a bounded number at a time.

It polls when the next job is due, after `wake`, and at least every `POLL_MS`, because other
processes enqueue too. The clock that is passed in decides whether a job is due or a lease has
ended; real time only bounds the wait between polls. `jobs/attempt.py` runs the handler.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from assent.engine.core import jobs
from assent.engine.core.jobs import Handler, Job, JobKind
from assent.jobs.attempt import CANCEL_SECONDS, JobAttempt, backoff_ms, log_failure, wait
from assent.kernel.limits import SECOND_MS, SHUTDOWN_GRACE_SECONDS
from assent.ports import Clock, Store, Transaction

log = logging.getLogger(__name__)

CONCURRENCY: Final = 8
"""Concurrent jobs of one process. They mostly wait for providers."""

CONCURRENCY_APART: Final = 32
"""Concurrent jobs that depend on third parties. More, because some may hang."""

CHECK_SECONDS: Final = 60.0
"""How often jobs are looked for that a wrong clock placed too far ahead."""

POLL_MS: Final = 1 * SECOND_MS
"""Longest delay of a job that another process enqueued."""

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
        claimed = await self._claim(self._concurrency, now_ms)
        await asyncio.gather(*(self._attempt(job).run() for job in claimed))
        return len(claimed)

    async def _enqueue_repeating(self) -> None:
        for name, kind in self._kinds.items():
            if kind.every_ms is not None:
                await self._store.write(partial(jobs.enqueue_next, name, kind.every_ms, self._clock.now_ms()))

    async def _start_due(self) -> int:
        """Start the due jobs. Returns the milliseconds until the next poll."""
        free = self._concurrency - len(self._running)
        if free == 0:
            return self._poll_ms
        await self._pull_misplaced(self._clock.now_ms())
        # A poll is a read, so an idle runner takes no lock.
        ready_ms = await self._store.read(partial(jobs.next_ready, self._kinds))
        now_ms = self._clock.now_ms()
        if ready_ms is None or ready_ms > now_ms:
            return self._poll_ms if ready_ms is None else min(self._poll_ms, ready_ms - now_ms)
        # The same time for both, so that the runner never takes a job from itself.
        for attempt in list(self._running.values()):
            await attempt.renew_if_overdue(now_ms)
        claimed = await self._claim(free, now_ms)
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
        for attempt in list(self._running.values()):
            await attempt.renew_if_overdue(now_ms)
        misplaced = await self._store.read(partial(jobs.list_misplaced, self._kinds, now_ms))
        if misplaced:
            log.warning("%d jobs are ready now, because the clock was set back", len(misplaced))
            await self._store.write(partial(jobs.pull, misplaced, now_ms))
        self._checked_seconds = now_seconds

    async def _claim(self, most: int, now_ms: int) -> list[Job]:
        return await self._store.write(partial(jobs.claim_due, self._kinds, now_ms, most, self._worker))

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


def sweeping(store: Store, clock: Clock, sweep: Sweep, batch: int = SWEEP_BATCH) -> Handler:
    """Return a handler that deletes all expired rows, one batch per transaction."""

    async def run(job: Job) -> None:
        now_ms = clock.now_ms()
        while await store.write(partial(sweep, now_ms, batch)) >= batch:
            pass

    return run
