"""The store for many replicas: PostgreSQL through asyncpg's pool.

A write is one transaction. After a serialization failure, a deadlock, or a connection that broke
before COMMIT was sent, the whole transaction runs again from a new generator. Errors that mean that
the database cannot be used become `StoreUnavailable`. The next call tries again, also if the
database was down at the start.
"""

from __future__ import annotations

import asyncio
import importlib.util
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from assent.ports import Begin, Clock, StoreUnavailable
from assent.stores.first_use import FirstUse

if TYPE_CHECKING:
    import asyncpg

    from assent.sql.components import ListComponents
    from assent.stores.postgres_connection import Connection

    Pool = asyncpg.Pool[asyncpg.Record]

T = TypeVar("T")

POOL_SIZE: Final = 10
"""Connections of one process. PostgreSQL's default of 100 then serves several replicas."""

CONNECT_SECONDS: Final = 5.0
"""Timeout of a new connection."""

ACQUIRE_SECONDS: Final = 10.0
"""How long a call waits for a free connection before it fails."""

COMMAND_SECONDS: Final = 10.0
"""Timeout of one statement, including its wait for locks. No statement here is slow."""

CACHED_STATEMENTS: Final = 512
"""More than all named statements together, so that none is prepared twice on a connection."""

TRIES: Final = 5
"""Most runs of one transaction. The loser of a deadlock nearly always succeeds in the second
run."""

BACK_OFF_SECONDS: Final = 0.02
"""Longest pause after the second run. It grows with each further run."""


class PostgresStore:
    """A `Store` over one database. Each event loop has its own pool."""

    dialect = "postgres"

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = POOL_SIZE,
        clock: Clock | None = None,
        prepare: Callable[[], Awaitable[None]] | None = None,
        list_components: ListComponents = tuple,
    ) -> None:
        require_driver()
        self.written = asyncio.Event()
        self._first_use = FirstUse(prepare)
        self._url = url
        self._pool_size = pool_size
        self._clock = clock
        self._list_components = list_components
        self._places: dict[asyncio.AbstractEventLoop, _LoopState] = {}
        self._closed = False

    async def open(self) -> None:
        if not self._first_use.done:
            await self._first_use.wait()
        await self._pool(self._place())

    async def write(self, begin: Begin[T]) -> T:
        from assent.stores.postgres_connection import write

        result = await self._run(write, begin)
        self.written.set()
        return result

    async def read(self, begin: Begin[T]) -> T:
        from assent.stores.postgres_connection import read

        return await self._run(read, begin)

    async def close(self) -> None:
        self._first_use.cancel()
        self._closed = True
        mine = self._places.pop(asyncio.get_running_loop(), None)
        for loop, place in self._places.items():
            if place.pool is not None and not loop.is_closed():
                loop.call_soon_threadsafe(place.pool.terminate)
        self._places.clear()
        if mine is not None:
            if mine.tasks:
                await asyncio.wait(mine.tasks)
            if mine.pool is not None:
                await mine.pool.close()

    async def _run(self, run: Callable[[Connection, Begin[T]], Coroutine[Any, Any, T]], begin: Begin[T]) -> T:
        """Run a transaction in its own task, so that cancellation does not interrupt a COMMIT."""
        if not self._first_use.done:
            await self._first_use.wait()
        place = self._place()
        task = asyncio.create_task(self._try(place, run, begin))
        place.tasks.add(task)
        task.add_done_callback(place.tasks.discard)
        return await asyncio.shield(task)

    async def _try(
        self,
        place: _LoopState,
        run: Callable[[Connection, Begin[T]], Coroutine[Any, Any, T]],
        begin: Begin[T],
    ) -> T:
        from assent.stores.postgres_errors import Again, Lost

        tries = 0
        while True:
            tries += 1
            pool = place.pool or await self._pool(place)
            try:
                async with _acquire(pool) as connection:
                    return await run(connection, begin)
            except Again as again:
                if isinstance(again, Lost):
                    # The other connections of the pool are most likely broken too.
                    await pool.expire_connections()
                if tries == TRIES:
                    raise
            # Back off after repeated collisions.
            await asyncio.sleep((tries - 1) * random.uniform(0, BACK_OFF_SECONDS))  # noqa: S311 - no secret

    def _place(self) -> _LoopState:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        loop = asyncio.get_running_loop()
        place = self._places.get(loop)
        if place is None:
            for ended in [known for known in self._places if known.is_closed()]:
                del self._places[ended]
            place = self._places[loop] = _LoopState()
        return place

    async def _pool(self, place: _LoopState) -> Pool:
        """Return this event loop's pool. The first call creates it and checks the schema."""
        async with place.opening:
            if place.pool is None:
                place.pool = await self._make_pool()
            return place.pool

    async def _make_pool(self) -> Pool:
        import asyncpg

        from assent.stores.postgres_schema import check_or_create

        now_ms = self._clock.now_ms() if self._clock is not None else time.time_ns() // 1_000_000
        async with connect(self._url) as connection:
            await check_or_create(connection, now_ms, self._list_components())
        return await asyncpg.create_pool(
            self._url,
            min_size=0,
            max_size=self._pool_size,
            reset=_leave_as_is,
            timeout=CONNECT_SECONDS,
            command_timeout=COMMAND_SECONDS,
            statement_cache_size=CACHED_STATEMENTS,
            max_cached_statement_lifetime=0,
            server_settings={"application_name": "assent"},
        )


class _LoopState:
    """The state of the store for one event loop."""

    def __init__(self) -> None:
        self.opening = asyncio.Lock()
        self.pool: Pool | None = None
        self.tasks: set[asyncio.Task[Any]] = set()


def require_driver() -> None:
    if importlib.util.find_spec("asyncpg") is None:
        raise ModuleNotFoundError(
            "PostgreSQL needs a driver that is not installed. Install it with: pip install 'assent[postgres]'"
        )


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """Open a single connection outside any pool, for one-time work."""
    require_driver()
    import asyncpg

    from assent.stores.postgres_errors import meaning

    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS)
        try:
            yield connection
        finally:
            with suppress(Exception):  # the work is done; a connection that cannot be closed is dropped
                await connection.close(timeout=CONNECT_SECONDS)
    except Exception as error:
        raise meaning(error) from error


@asynccontextmanager
async def _acquire(pool: Pool) -> AsyncIterator[Connection]:
    from assent.stores.postgres_errors import meaning

    try:
        async with asyncio.timeout(ACQUIRE_SECONDS):
            connection = await pool.acquire()
    except Exception as error:
        # Also for a pool that is closing: the store is unavailable to this caller.
        raise meaning(error, lost=True, committing=True) from error
    try:
        yield connection
    finally:
        with suppress(Exception):  # the pool closes a connection that cannot be returned
            await pool.release(connection)


async def _leave_as_is(_: asyncpg.Connection[asyncpg.Record]) -> None:
    """Skip the reset of a connection, a round trip: no state outlives a transaction."""
