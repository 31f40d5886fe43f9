"""The store for many replicas: PostgreSQL through asyncpg's pool.

A write is one transaction. After a serialization failure, a deadlock, or a connection that broke
before COMMIT was sent, the whole transaction runs again from a new generator. Errors that mean that
the database cannot be used become `StoreUnavailable`. The next call tries again, also if the
database was down at the start.

A connection that finds another timeline or another replication than before is a first use again:
`prepare` runs before any other transaction, because a failover may have lost writes.

After a write that appended to the journal, this process bumps the journal's position for open pages
of all processes: at once, and then at most once a second.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import random
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from assent.kernel.distribution import word_install
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.ports import Begin, Clock, Rows, SchemaMismatch, Single, StoreUnavailable
from assent.sql.loader import statements
from assent.stores.first_use import FirstUse
from assent.stores.postgres_shards import Servers, is_spread

if TYPE_CHECKING:
    import asyncpg

    from assent.sql.components import ListComponents
    from assent.stores.postgres_connection import Connection, Hosts

    Pool = asyncpg.Pool[asyncpg.Record]

T = TypeVar("T")

log = logging.getLogger("assent.stores")

POOL_SIZE: Final = 10
"""Connections of one process. PostgreSQL's default of 100 then serves several replicas."""

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

RELEASE_SECONDS: Final = 2.0
"""How long a connection may take to end a statement that has timed out, before it is dropped."""

BUMP_SECONDS: Final = 1.0
"""Least time between two bumps of the journal's position by one process. Pages poll as often."""


class PostgresStore:
    """A `Store` over one database. Each event loop has its own pool."""

    dialect = "postgres"

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = POOL_SIZE,
        clock: Clock | None = None,
        follow: Callable[[int, int], None] | None = None,
        prepare: Callable[[], Awaitable[None]] | None = None,
        list_components: ListComponents = tuple,
        statement_cache: str = "auto",
    ) -> None:
        require_driver()
        self.written = asyncio.Event()
        self.writes = 0
        self._first_use = FirstUse(prepare)
        self._url = url
        self._pool_size = pool_size
        self._clock = clock
        self._follow = follow
        self._list_components = list_components
        self._statement_cache = statement_cache
        self._places: dict[asyncio.AbstractEventLoop, _LoopState] = {}
        self._closed = False
        self._hosts: Hosts | None = None
        self.servers = Servers(self._first_use.restart)

    async def open(self) -> None:
        if not self._first_use.done:
            await self._first_use.wait()
        await self._pool(self._place())

    async def write(self, begin: Begin[T]) -> T:
        from assent.stores.postgres_connection import write

        async def write_and_bump(connection: Connection, begin: Begin[T]) -> T:
            appended: set[str] = set()
            result = await write(connection, begin, appended)
            if appended:
                self._bump_position(place)
            return result

        place = self._place()
        single = isinstance(begin, Single)
        result = await self._run(write_and_bump, begin if single else self.servers.for_write(begin))
        self.writes += 1
        self.written.set()
        return result

    async def read(self, begin: Begin[T]) -> T:
        from assent.stores.postgres_connection import read

        several = self.servers.for_write if self._first_use.is_running else self.servers.for_read
        try:
            return await self._run(read, several(begin))
        except StoreUnavailable:
            self.servers.ask_apart()
            raise

    def count_connections(self) -> dict[str, int]:
        """The connections of this event loop's pool, for metrics."""
        place = self._places.get(asyncio.get_running_loop())
        if place is None or place.pool is None:
            return {"used": 0, "idle": 0, "most": self._pool_size}
        idle = place.pool.get_idle_size()
        return {"used": place.pool.get_size() - idle, "idle": idle, "most": self._pool_size}

    async def close(self) -> None:
        self._first_use.cancel()
        self._closed = True
        mine = self._places.pop(asyncio.get_running_loop(), None)
        for loop, place in self._places.items():
            if place.pool is not None and not loop.is_closed():
                loop.call_soon_threadsafe(place.pool.terminate)
        self._places.clear()
        if mine is not None:
            mine.closing.set()
            if mine.pool is None:  # without a connection no COMMIT is in flight
                for task in mine.tasks:
                    task.cancel()
            if mine.tasks:
                await asyncio.wait(mine.tasks)
            if mine.pool is not None:
                await mine.pool.close()

    async def _run(self, run: Callable[[Connection, Begin[T]], Coroutine[Any, Any, T]], begin: Begin[T]) -> T:
        """Run a transaction in its own task, so that cancellation does not interrupt a COMMIT."""
        if not self._first_use.done:
            await self._first_use.wait()
        place = self._place()
        return await asyncio.shield(place.start(self._try(place, run, begin, self._first_use.is_running)))

    async def _try(
        self,
        place: _LoopState,
        run: Callable[[Connection, Begin[T]], Coroutine[Any, Any, T]],
        begin: Begin[T],
        preparing: bool,
    ) -> T:
        from assent.stores.postgres_connection import Again, Lost

        tries = 0
        while True:
            pool = place.pool or await self._pool(place)
            try:
                async with _acquire(pool) as connection:
                    if preparing or self._first_use.done:
                        tries += 1
                        return await run(connection, begin)
                # The connection is the first to another server than before.
                await self._first_use.wait()
                continue
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

        from assent.stores.postgres_connection import POOLED, UNCACHED, is_pooled, keeps_statements
        from assent.stores.postgres_schema import check_or_create

        now_ms = self._clock.now_ms() if self._clock is not None else time.time_ns() // 1_000_000
        hosts = self._find_hosts()
        async with connect(hosts) as connection:
            await check_or_create(connection, now_ms, self._list_components())
            pooled = await is_pooled(connection)
            self.servers.are_several = await is_spread(connection)
        if self._statement_cache == "on" and pooled and not await keeps_statements(hosts):
            raise SchemaMismatch(POOLED)
        uncached = self._statement_cache == "off" or (self._statement_cache == "auto" and pooled)
        cached = {"statement_cache_size": CACHED_STATEMENTS, "max_cached_statement_lifetime": 0}
        return await asyncpg.create_pool(
            self._url,
            connect=hosts.connect,
            min_size=0,
            max_size=self._pool_size,
            reset=_leave_as_is,
            command_timeout=COMMAND_SECONDS,
            **(UNCACHED if uncached else cached),
            server_settings={"application_name": "assent"},
        )

    def _find_hosts(self) -> Hosts:
        from assent.stores.postgres_connection import Hosts

        if self._hosts is None:
            self._hosts = Hosts(self._url, self._first_use.restart, self._follow)
        return self._hosts

    def _bump_position(self, place: _LoopState) -> None:
        place.grown = True
        if place.bumping is None or place.bumping.done():
            place.bumping = place.start(self._keep_bumping(place))

    async def _keep_bumping(self, place: _LoopState) -> None:
        """Bump the position of the journal until it stops growing."""

        async def bump(connection: Connection, begin: Begin[Rows]) -> Rows:
            await self._find_hosts().look_again(connection)
            return await write(connection, begin, set())

        from assent.stores.postgres_connection import write

        while place.grown:
            place.grown = False
            position = statements.bump_position(workspace_id=SYSTEM_WORKSPACE, position=uuid.uuid4().hex)
            try:
                await self._try(place, bump, Single(position), preparing=True)
            except StoreUnavailable as error:
                log.info("pages learn later that the journal has grown: %s", error)
                place.grown = not place.closing.is_set()
            with suppress(TimeoutError):
                await asyncio.wait_for(place.closing.wait(), BUMP_SECONDS)


class _LoopState:
    """The state of the store for one event loop."""

    def __init__(self) -> None:
        self.opening = asyncio.Lock()
        self.pool: Pool | None = None
        self.tasks: set[asyncio.Task[Any]] = set()
        self.grown = False
        """Whether the journal has grown since its position was bumped."""
        self.bumping: asyncio.Task[None] | None = None
        self.closing = asyncio.Event()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run in a task that `close` waits for."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task


def require_driver() -> None:
    if importlib.util.find_spec("asyncpg") is None:
        raise ModuleNotFoundError(
            f"PostgreSQL needs a driver that is not installed. Install it with: {word_install('postgres')}"
        )


@asynccontextmanager
async def connect(to: Hosts | str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """Open a single connection outside any pool, for one-time work."""
    require_driver()
    from assent.stores.postgres_connection import Hosts, meaning

    try:
        connection = await (Hosts(to) if isinstance(to, str) else to).connect()
        try:
            yield connection
        finally:
            with suppress(Exception):  # the work is done; a connection that cannot be closed is dropped
                await connection.close(timeout=RELEASE_SECONDS)
    except Exception as error:
        raise meaning(error) from error


@asynccontextmanager
async def _acquire(pool: Pool) -> AsyncIterator[Connection]:
    from assent.stores.postgres_connection import meaning

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
            await pool.release(connection, timeout=RELEASE_SECONDS)


async def _leave_as_is(_: asyncpg.Connection[asyncpg.Record]) -> None:
    """Skip the reset of a connection, a round trip: no state outlives a transaction."""
