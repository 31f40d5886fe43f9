"""Run a transaction on one PostgreSQL connection. Pools and retries are in `postgres`."""

from __future__ import annotations

from contextlib import suppress
from types import CodeType, GeneratorType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from asyncpg import InterfaceError
from msgspec.structs import astuple

from assent.ports import Begin, Bound, Guarded, Rows, Single, StoreUnavailable
from assent.stores.postgres_errors import meaning

if TYPE_CHECKING:
    import asyncpg
    from asyncpg.pool import PoolConnectionProxy
    from asyncpg.transaction import Transaction as Block

    Connection = PoolConnectionProxy[asyncpg.Record]

T = TypeVar("T")

APPENDS: Final = frozenset({"append_event", "begin_stream"})
"""The statements that move the head of a stream."""

_ask_again: set[CodeType] = set()
"""Read transactions that have yielded a second statement. Any other is assumed to have one
statement, which needs no BEGIN and COMMIT for a consistent snapshot and saves two round trips. A
wrong guess repeats one statement."""


async def write(connection: Connection, begin: Begin[T], appended: set[str]) -> T:
    """Run and commit one transaction. Adds the appends to the journal to `appended`."""
    if isinstance(begin, Single):
        rows: Any = await _fetch(connection, begin.bound, committing=True)
        return rows  # type: ignore[no-any-return]
    block = connection.transaction(isolation="read_committed")
    return await _inside(connection, block, begin, appended)


async def read(connection: Connection, begin: Begin[T]) -> T:
    """Run one read in one snapshot."""
    transaction = cast("GeneratorType[Bound, Rows, T]", begin())
    if transaction.gi_code not in _ask_again:
        try:
            bound = next(transaction)
            if not bound.statement.writes:
                transaction.send(await _fetch(connection, bound))
        except StopIteration as end:
            result: T = end.value
            return result
        _ask_again.add(transaction.gi_code)
    transaction.close()
    block = connection.transaction(isolation="repeatable_read", readonly=True)
    return await _inside(connection, block, begin, set())


async def _inside(connection: Connection, block: Block, begin: Begin[T], appended: set[str]) -> T:
    try:
        await block.start()
    except Exception as error:
        raise meaning(error, lost=_is_lost(connection)) from error
    try:
        result = await _drive(connection, begin, appended)
    except BaseException:
        with suppress(Exception):  # report the first error; a connection that cannot roll back is closed
            await block.rollback()
        raise
    try:
        await block.commit()
    except Exception as error:
        raise meaning(error, lost=_is_lost(connection), committing=True) from error
    return result


async def _drive(connection: Connection, begin: Begin[T], appended: set[str], depth: int = 0) -> T:
    """Run the statements of a transaction, or of a guarded part of one at some depth. Exceptions of the generator
    pass through unchanged."""
    transaction = begin()
    try:
        bound = next(transaction)
        while True:
            if bound.statement.name in APPENDS:
                appended.add(bound.statement.name)
            if isinstance(bound, Guarded):
                rows = await _drive_guarded(connection, bound.begin, appended, depth + 1)
            else:
                rows = await _fetch(connection, bound)
            bound = transaction.send(rows)
    except StopIteration as end:
        result: T = end.value
        return result


async def _drive_guarded(connection: Connection, begin: Begin[None], appended: set[str], depth: int) -> Rows:
    """Run a guarded part of a transaction and return its fault, if it has one. The savepoint needs no release: it
    ends with what is around it."""
    await _execute(connection, f"SAVEPOINT guarded_{depth}")
    try:
        await _drive(connection, begin, appended, depth)
    except StoreUnavailable:
        raise
    except Exception as error:
        await _execute(connection, f"ROLLBACK TO SAVEPOINT guarded_{depth}")
        return [(error,)]
    return []


async def _execute(connection: Connection, command: str) -> None:
    try:
        await connection.execute(command)
    except Exception as error:
        raise meaning(error, lost=_is_lost(connection)) from error


async def _fetch(connection: Connection, bound: Bound, *, committing: bool = False) -> Rows:
    if not bound.statement.postgres:
        return []
    try:
        return await connection.fetch(bound.statement.postgres, *astuple(bound))
    except Exception as error:
        raise meaning(error, lost=_is_lost(connection), committing=committing) from error


def _is_lost(connection: Connection) -> bool:
    try:
        return connection.is_closed()
    except InterfaceError:
        return True  # the pool has already taken back a broken connection
