"""What the tests of jobs share: a clock to move by hand, stores that can be watched or unplugged, and scenarios."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from tests.support.own_sql import bind

from assent.engine.core import jobs
from assent.engine.core.jobs import Job, JobKind, JobState
from assent.jobs.worker import Runner, claim_due
from assent.kernel.ids import JobId, WorkspaceId
from assent.ports import Begin, Store, StoreUnavailable, Transaction
from assent.stores import open_store

T = TypeVar("T")

NOON = 1_900_000_000_000
"""The moment at which every test begins; far from the real time, so that using the real clock fails."""

LEASE_MS = 30_000
DEADLINE_SECONDS = 20.0
WORKSPACE = WorkspaceId("0190a000-0000-7000-8000-00000000000a")


class Clock:
    """Time as a value that the test moves."""

    def __init__(self, at_ms: int = NOON) -> None:
        self.at_ms = at_ms

    def now_ms(self) -> int:
        return self.at_ms


class Watched:
    """A store that says when something was written, and that can be unplugged like a database."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.dialect = store.dialect
        self.written = store.written
        self.fault: Exception | None = None
        self.answered = 0
        self.refused = 0
        self._changed = asyncio.Event()

    async def open(self) -> None:
        await self.store.open()

    async def close(self) -> None:
        await self.store.close()

    async def write(self, begin: Begin[T]) -> T:
        return await self._call(self.store.write, begin)

    async def read(self, begin: Begin[T]) -> T:
        return await self._call(self.store.read, begin)

    async def _call(self, call: Callable[[Begin[T]], Awaitable[T]], begin: Begin[T]) -> T:
        try:
            if self.fault is not None:
                raise self.fault
            result = await call(begin)
            self.answered += 1
            return result
        except Exception:
            self.refused += 1
            raise
        finally:
            self._changed.set()

    def unplug(self) -> None:
        self.fault = StoreUnavailable("unplugged by the test")

    def plug(self) -> None:
        self.fault = None

    async def until_refused(self, times: int) -> None:
        """Wait until so many calls have failed."""

        async def tried() -> bool:
            return self.refused >= times

        await self.until(tried)

    async def until_state(self, state: JobState, count: int = 1) -> None:
        """Wait until so many jobs are in this state."""

        async def reached() -> bool:
            rows = await self.store.read(ask(f"SELECT count(*) FROM jobs WHERE state = '{state.value}'"))
            return bool(rows[0][0] == count)

        await self.until(reached)

    async def until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        """Wait until the condition holds, looking after every call; at most until the deadline."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            while True:
                self._changed.clear()
                if await condition():
                    return
                await self._changed.wait()


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Watched]:
    """The store of a URL, closed at the end."""
    store = open_store(url)
    try:
        await store.open()
        yield Watched(store)
    finally:
        await store.close()


class Handled:
    """A handler that remembers what it ran, and then does what the test says."""

    def __init__(self, then: Callable[[Job], Awaitable[bool | None]] | None = None) -> None:
        self.ran: list[Job] = []
        self.changed = asyncio.Event()
        self._then = then

    @property
    def keys(self) -> list[str]:
        return [job.key for job in self.ran]

    async def __call__(self, job: Job) -> bool | None:
        self.ran.append(job)
        self.changed.set()
        return await self._then(job) if self._then is not None else None

    async def until_ran(self, times: int) -> None:
        async with asyncio.timeout(DEADLINE_SECONDS):
            while len(self.ran) < times:
                self.changed.clear()
                await self.changed.wait()


def greeting(handler: Handled, *retry_delays_ms: int, **options: Any) -> dict[str, JobKind]:
    """One kind, `greet`, with a lease long enough that only the clock of the test ends it."""
    return {"greet": JobKind(handler, retry_delays_ms, **{"lease_ms": LEASE_MS, **options})}


def runner(store: Store, clock: Clock, kinds: dict[str, JobKind], **options: Any) -> Runner:
    return Runner(store, clock, kinds, **{"worker": "here", "poll_ms": 10, **options})


@asynccontextmanager
async def running(subject: Runner) -> AsyncIterator[Runner]:
    """A runner in its loop, stopped at the end."""
    task = asyncio.create_task(subject.run())
    try:
        yield subject
        subject.stop()
        async with asyncio.timeout(DEADLINE_SECONDS):
            await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def enqueue(store: Store, key: str, *, due_ms: int = NOON, **payload: Any) -> bool:
    return await store.write(
        partial(jobs.enqueue, WORKSPACE, "greet", key, payload, due_ms=due_ms, now_ms=NOON)
    )


async def claim(
    store: Store, kinds: dict[str, JobKind], now_ms: int, most: int = 10, worker: str = "w"
) -> list[Job]:
    ready = await store.read(partial(jobs.list_ready, kinds, now_ms, most))
    return await claim_due(store, kinds, ready, now_ms, most, worker)


async def next_ready(store: Store, kinds: dict[str, JobKind]) -> int | None:
    """When the next job of these kinds can be claimed."""
    ready = await store.read(partial(jobs.list_ready, kinds, 0, 1))
    return ready[0].ready_ms if ready else None


async def look(store: Store, job: Job) -> Job:
    found = await store.read(partial(jobs.find, job.workspace_id, JobId(job.job_id)))
    assert found is not None
    return found


def ask(sqlite: str, postgres: str | None = None, values: tuple[Any, ...] = ()) -> Begin[list[Any]]:
    """A statement of the test's own as a transaction; its answer is the rows as tuples."""

    def transaction() -> Transaction[list[Any]]:
        rows: Any = yield bind(sqlite, postgres or sqlite, *values)
        return [tuple(row) for row in rows]

    return transaction
