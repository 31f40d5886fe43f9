"""The store for many replicas: PostgreSQL through asyncpg's pool.

A write is one transaction. After a serialization failure, a deadlock, or a connection that broke before its
COMMIT was sent, the whole transaction runs again from a fresh generator. Whatever says that the database
cannot be used now becomes `StoreUnavailable`, and the next call tries again, also where the database was down
at the start.

Deliberately unaware of what any statement means.
"""

from __future__ import annotations

import asyncio
import importlib.util
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from assent.ports import Begin, Clock, StoreUnavailable

if TYPE_CHECKING:
    import asyncpg
    from asyncpg.pool import PoolConnectionProxy

T = TypeVar("T")

POOL_SIZE: Final = 10
"""Connections of one process: PostgreSQL's default of 100 serves several replicas, and more only wait for
cores."""

CONNECT_SECONDS: Final = 5.0
"""How long a new connection may take before the database counts as unreachable."""

ACQUIRE_SECONDS: Final = 10.0
"""How long a call waits for a free connection: longer, and its caller is better served by a clear answer."""

COMMAND_SECONDS: Final = 30.0
"""How long one statement may take, locks included: none of ours is slow, so the server has stopped
answering."""

TRIES: Final = 5
"""Runs of one transaction. The loser of a deadlock nearly always wins the second time."""


class PostgresStore:
    """A `Store` over one database. Each event loop that uses it has a pool of its own."""

    dialect = "postgres"

    def __init__(self, url: str, *, pool_size: int = POOL_SIZE, clock: Clock | None = None) -> None:
        require_driver()
        self._url = url
        self._pool_size = pool_size
        self._clock = clock
        self._pools: dict[asyncio.AbstractEventLoop, asyncpg.Pool[asyncpg.Record]] = {}
        self._doors: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}
        self._closed = False

    async def open(self) -> None:
        await self._pool()

    async def write(self, begin: Begin[T]) -> T:
        return await self._run(begin, "read_committed", readonly=False)

    async def read(self, begin: Begin[T]) -> T:
        return await self._run(begin, "repeatable_read", readonly=True)

    async def close(self) -> None:
        self._closed = True
        mine = self._pools.pop(asyncio.get_running_loop(), None)
        for pool in self._pools.values():
            pool.terminate()
        self._pools.clear()
        if mine is not None:
            await mine.close()

    async def _run(
        self, begin: Begin[T], isolation: Literal["read_committed", "repeatable_read"], *, readonly: bool
    ) -> T:
        from assent.stores.postgres_errors import Again

        for _ in range(TRIES):
            pool = self._pools.get(asyncio.get_running_loop()) or await self._pool()
            async with _acquired(pool) as connection:
                try:
                    return await _transact(connection, begin, isolation, readonly)
                except Again as again:
                    last = again
        raise StoreUnavailable(f"postgres: gave up after {TRIES} tries: {last}")

    async def _pool(self) -> asyncpg.Pool[asyncpg.Record]:
        """This event loop's pool, made and its schema checked at the first call that succeeds."""
        if self._closed:
            raise StoreUnavailable("the store is closed")
        loop = asyncio.get_running_loop()
        async with self._doors.setdefault(loop, asyncio.Lock()):
            if loop not in self._pools:
                self._pools[loop] = await self._make_pool()
            return self._pools[loop]

    async def _make_pool(self) -> asyncpg.Pool[asyncpg.Record]:
        import asyncpg

        from assent.stores.postgres_schema import check_or_create

        now_ms = self._clock.now_ms() if self._clock is not None else time.time_ns() // 1_000_000
        async with connected(self._url) as connection:
            await check_or_create(connection, now_ms)
        return await asyncpg.create_pool(
            self._url,
            min_size=0,
            max_size=self._pool_size,
            reset=_leave_as_is,
            timeout=CONNECT_SECONDS,
            command_timeout=COMMAND_SECONDS,
            server_settings={"application_name": "assent"},
        )


def require_driver() -> None:
    if importlib.util.find_spec("asyncpg") is None:
        raise ModuleNotFoundError(
            "PostgreSQL needs a driver that is not installed. Install it with: pip install 'assent[postgres]'"
        )


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """A single connection outside any pool, for what happens once."""
    require_driver()
    import asyncpg

    from assent.stores.postgres_errors import meaning

    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS)
        try:
            yield connection
        finally:
            await connection.close(timeout=CONNECT_SECONDS)
    except Exception as error:
        raise meaning(error) from error


@asynccontextmanager
async def _acquired(pool: asyncpg.Pool[asyncpg.Record]) -> AsyncIterator[PoolConnectionProxy[asyncpg.Record]]:
    from assent.stores.postgres_errors import meaning

    try:
        async with asyncio.timeout(ACQUIRE_SECONDS):
            connection = await pool.acquire()
    except Exception as error:
        raise meaning(error) from error
    try:
        yield connection
    finally:
        with suppress(Exception):  # a connection that cannot be given back is closed by the pool
            await pool.release(connection)


async def _transact(
    connection: PoolConnectionProxy[asyncpg.Record],
    begin: Begin[T],
    isolation: Literal["read_committed", "repeatable_read"],
    readonly: bool,
) -> T:
    from assent.stores.postgres_errors import meaning

    block = connection.transaction(isolation=isolation, readonly=readonly)
    try:
        await block.start()
    except Exception as error:
        raise meaning(error, before_commit=True) from error
    try:
        result = await _drive(connection, begin)
    except BaseException:
        with suppress(
            Exception
        ):  # the first error is the answer; a connection that cannot roll back is closed
            await block.rollback()
        raise
    try:
        await block.commit()
    except Exception as error:
        raise meaning(error) from error
    return result


async def _drive(connection: PoolConnectionProxy[asyncpg.Record], begin: Begin[T]) -> T:
    """Run a transaction's statements. Errors of the generator pass through untouched."""
    from assent.stores.postgres_errors import meaning

    transaction = begin()
    try:
        bound = next(transaction)
        while True:
            try:
                rows = await connection.fetch(bound.statement.postgres, *bound.values)
            except Exception as error:
                raise meaning(error, before_commit=True) from error
            bound = transaction.send(rows)
    except StopIteration as end:
        result: T = end.value
        return result


async def _leave_as_is(_: asyncpg.Connection[asyncpg.Record]) -> None:
    """Nothing of ours outlives its transaction, so that a returned connection needs no round trip to be
    reset."""
