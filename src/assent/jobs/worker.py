"""The runner of durable jobs: looks for what is due, claims it, and runs a bounded number at a time.

It looks when the next job is ready, when somebody in this process calls `wake`, and at least once a poll,
because other processes enqueue too. Whether a job is due and whether a lease has ended is decided by the
clock that is passed in; real time only bounds how long this waits before it looks again.

Deliberately unaware of what any kind does, and of what the end of a handler means: `jobs/attempt.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from assent.engine.core import jobs
from assent.engine.core.jobs import Handler, Job, JobKind
from assent.jobs.attempt import CANCEL_SECONDS, JobAttempt, backoff_ms, log_failure, wait
from assent.kernel.limits import SECOND_MS, SHUTDOWN_GRACE_SECONDS
from assent.ports import Clock, Store, Transaction

CONCURRENCY: Final = 8
"""Jobs that one process runs at a time: they mostly wait for providers, and calls of people come first."""

CONCURRENCY_APART: Final = 32
"""Jobs at a time whose length is in the hands of strangers: they do nothing but wait, and a few that hang must not be
all of them."""

POLL_MS: Final = 1 * SECOND_MS
"""How late a job can start that another process enqueued."""

SWEEP_BATCH: Final = 500
"""Rows that one sweeping transaction removes: callers wait behind it."""

Sweep = Callable[[int, int], Transaction[int]]
"""`(now_ms, most)`: removes at most that many rows past their time and returns how many it removed."""


class Runner:
    """Runs the jobs of the given kinds over one store, from one event loop, once from start to stop."""

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

    def wake(self) -> None:
        """Look now: a job was enqueued here."""
        self._woken.set()

    def stop(self) -> None:
        """Claim nothing more; `run` returns when the running jobs have ended, or after the grace."""
        self._stopping.set()
        self._woken.set()

    async def run(self) -> None:
        """Run jobs until `stop`. A database that cannot be reached is waited for, never a reason to end."""
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
        """Claim what is due now, as much as may run at once, and run it to its end. Returns how many ran."""
        claimed = await self._claim(self._concurrency, self._clock.now_ms())
        await asyncio.gather(*(self._attempt(job).run() for job in claimed))
        return len(claimed)

    async def _enqueue_repeating(self) -> None:
        for name, kind in self._kinds.items():
            if kind.every_ms is not None:
                await self._store.write(partial(jobs.enqueue_next, name, kind.every_ms, self._clock.now_ms()))

    async def _start_due(self) -> int:
        """Start what is due and return for how many milliseconds there is nothing more to do."""
        free = self._concurrency - len(self._running)
        if free == 0:
            return self._poll_ms
        # The look costs no write, so an idle runner takes no lock and no turn from anybody.
        ready_ms = await self._store.read(partial(jobs.next_ready, self._kinds))
        now_ms = self._clock.now_ms()
        if ready_ms is None or ready_ms > now_ms:
            return self._poll_ms if ready_ms is None else min(self._poll_ms, ready_ms - now_ms)
        # One moment for both, so that this never takes a job from itself.
        for attempt in list(self._running.values()):
            await attempt.renew_if_overdue(now_ms)
        claimed = await self._claim(free, now_ms)
        for job in claimed:
            attempt = self._attempt(job)
            task = asyncio.create_task(attempt.run())
            self._running[task] = attempt
            task.add_done_callback(self._ended)
        # Nothing to claim although something was ready: another runner has it.
        return 0 if claimed else self._poll_ms

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

    def _ended(self, task: asyncio.Task[None]) -> None:
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
    """A handler that removes everything past its time, a batch per transaction so that nobody waits long."""

    async def run(job: Job) -> None:
        now_ms = clock.now_ms()
        while await store.write(partial(sweep, now_ms, batch)) >= batch:
            pass

    return run
