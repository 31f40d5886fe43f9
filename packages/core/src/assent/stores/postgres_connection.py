"""One PostgreSQL connection: open it to the server that takes writes, run a transaction on it, translate its
errors. Pools and retries are in `postgres`.

The hosts of an address are tried in order, the one that served last first, each for a bounded time: a host
that does not answer must not hide the one that was promoted. A server whose timeline is behind one that
this process has seen was replaced by a failover and is never used again, also if it came back and
takes writes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import AsyncExitStack, suppress
from types import CodeType, GeneratorType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from urllib.parse import urlsplit, urlunsplit

import asyncpg
from msgspec.structs import astuple

from assent.kernel.structs import Record
from assent.ports import (
    Begin,
    Bound,
    ConstraintViolation,
    Guarded,
    Rows,
    Single,
    StoreUnavailable,
    UniqueViolation,
)
from assent.sql.loader import statements

if TYPE_CHECKING:
    from collections.abc import Callable

    from asyncpg.pool import PoolConnectionProxy
    from asyncpg.transaction import Transaction as Block

    Connection = PoolConnectionProxy[asyncpg.Record]
    DirectConnection = asyncpg.Connection[asyncpg.Record]
    _Driven = DirectConnection
else:
    _Driven = asyncpg.Connection

T = TypeVar("T")

log = logging.getLogger("assent.stores")

# Errors of the driver, by SQLSTATE codes and classes.

AGAIN = frozenset({"40001", "40P01"})
"""Serialization failure and deadlock: the server rolled back, so the transaction may run again."""

LOST_CODES = frozenset({"57P01", "57P02", "57P05", "25P03", "25P04"})
"""The server has closed the connection: shutdown, crash, idle time-outs."""

UNAVAILABLE_CLASSES = frozenset({"08", "28", "53", "57", "58", "3D", "F0"})
"""Connection, authorization, resources (disk, memory, connections), operator intervention, system,
no such database, configuration file."""

NO_PRIVILEGE = "42501"
UNAVAILABLE_CODES = frozenset({"25006", NO_PRIVILEGE, "55P03", "XX001", "XX002"})
"""Read-only server, missing privilege, lock time-out, damaged data or index."""

OWNED: Final = "The role of the address has to own the database: ALTER DATABASE name OWNER TO role."

FORGOTTEN_STATEMENTS = frozenset({"26000", "42P05"})
"""A prepared statement that is not there, or is there already: another connection prepared it."""

POOLED: Final = (
    "A pooler gives the transactions of this process to changing connections of the database, and statements that were "
    "prepared on one are not known on the next. Set ASSENT_STATEMENT_CACHE to auto or off."
)


class Again(StoreUnavailable):
    """Nothing was committed; another run of the transaction may succeed."""


class Lost(Again):
    """Nothing was committed, because the connection broke before."""


def meaning(error: Exception, *, lost: bool = False, committing: bool = False) -> Exception:
    """Return the error to raise instead. An error that is not in the tables is a bug and is
    returned unchanged.

    `lost` says that the connection is closed. `committing` says that a COMMIT was sent; if the
    connection is lost, its result is unknown.
    """
    state = getattr(error, "sqlstate", None) or ""
    text = f"postgres: {type(error).__name__}: {error}"
    if state == "23505":
        return UniqueViolation(text)
    if state.startswith("23"):
        return ConstraintViolation(text)
    if state in AGAIN or isinstance(error, asyncpg.InvalidCachedStatementError):
        return Again(text)
    if isinstance(error, TimeoutError):
        return StoreUnavailable(text)
    if committing and state == "XX000":
        return StoreUnavailable(text)  # a server of several did not answer the COMMIT
    if lost or state in LOST_CODES:
        return StoreUnavailable(text) if committing else Lost(text)
    if state in FORGOTTEN_STATEMENTS:
        return StoreUnavailable(f"{text}. {POOLED}")
    if state == NO_PRIVILEGE:
        return StoreUnavailable(f"{text}. {OWNED}")
    if state[:2] in UNAVAILABLE_CLASSES or state in UNAVAILABLE_CODES or isinstance(error, OSError):
        return StoreUnavailable(text)
    return error


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
    except asyncpg.InterfaceError:
        return True  # the pool has already taken back a broken connection


HOST_SECONDS: Final = 1.5
"""Timeout of one host of several. Two hosts that hang leave time for a third within five seconds."""

CONNECT_SECONDS: Final = 5.0
"""Timeout of a new connection."""


class ServerHistory(Record):
    """Which history of a database a server continues. A failover or a restore begins a new one.

    `synchronous` says that a commit waits for a standby, so that a failover loses none.
    """

    system: str
    timeline: int
    synchronous: bool


class ReplacedServer(ConnectionError):  # noqa: N818 - a state of the world
    """The server was replaced by one with a later timeline."""


class UncachedConnection(_Driven):
    """A connection that may go through a pooler. A statement is sent in two messages, to parse and to run it; outside a
    transaction a pooler may give the second to another server connection, and to a statement of someone else."""

    async def fetch(self, *arguments: Any, **options: Any) -> Any:
        return await self._together(super().fetch, arguments, options)

    async def fetchrow(self, *arguments: Any, **options: Any) -> Any:
        return await self._together(super().fetchrow, arguments, options)

    async def fetchval(self, *arguments: Any, **options: Any) -> Any:
        return await self._together(super().fetchval, arguments, options)

    async def _together(self, ask: Callable[..., Any], arguments: Any, options: Any) -> Any:
        if self.is_in_transaction():
            return await ask(*arguments, **options)
        async with self.transaction():
            return await ask(*arguments, **options)


UNCACHED: Final[dict[str, Any]] = {"statement_cache_size": 0, "connection_class": UncachedConnection}
"""Options of a connection that a pooler cannot mislead."""

BACKEND: Final = "SELECT pg_backend_pid()"
PROBED_CONNECTIONS: Final = 20
"""As many as pgbouncer has for a database by default."""


async def is_pooled(connection: DirectConnection) -> bool:
    """Whether a pooler is between: it has a process id of its own, by which it finds what to cancel."""
    return bool(connection.get_server_pid() != await connection.fetchval(BACKEND))


async def keeps_statements(hosts: Hosts) -> bool:
    """Whether a statement that was prepared is still known when another transaction has taken the server connection.
    Others are begun until one has it: in session mode none gets it."""
    async with AsyncExitStack() as stack:

        async def connect(**options: Any) -> DirectConnection:
            connection = await hosts.connect(**options)
            stack.callback(connection.terminate)
            return connection

        try:
            prepared = await (await connect(statement_cache_size=1)).prepare(BACKEND)
            home = await prepared.fetchval()
            with suppress(TimeoutError):  # no connection is left, and none was `home`
                async with asyncio.timeout(HOST_SECONDS):
                    for _ in range(PROBED_CONNECTIONS):
                        other = await connect()
                        await other.transaction().start()
                        if await other.fetchval(BACKEND) == home:
                            break
            await prepared.fetchval(timeout=HOST_SECONDS)
            return True
        except (TimeoutError, asyncpg.PostgresError):
            return False


class Hosts:
    """The servers of one address."""

    def __init__(
        self,
        url: str,
        changed: Callable[[], None] = lambda: None,
        follow: Callable[[int, int], None] | None = None,
    ) -> None:
        """`changed` is called when a server has another history than the one before, `follow` with its
        time and the milliseconds since it was asked."""
        self._urls = split_hosts(url)
        self._changed = changed
        self._follow = follow
        self._history: ServerHistory | None = None

    async def connect(self, *_: Any, **options: Any) -> DirectConnection:
        """Open a connection to a host that takes writes. Takes the arguments of `asyncpg.connect`;
        the address is that of this object. Without `statement_cache_size` it keeps no prepared statements."""
        if "statement_cache_size" not in options:
            options = UNCACHED | options
        last: Exception | None = None
        seconds = HOST_SECONDS if len(self._urls) > 1 else CONNECT_SECONDS
        for url in list(self._urls):
            try:
                async with asyncio.timeout(seconds):
                    connection = await self._connect_to(url, options)
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
                last = error
            except asyncpg.TargetServerAttributeNotMatched as error:
                last = ConnectionRefusedError(str(error))
            else:
                self._urls.remove(url)
                self._urls.insert(0, url)
                return connection
        raise last or ConnectionRefusedError("the address names no host")

    async def _connect_to(self, url: str, options: dict[str, Any]) -> DirectConnection:
        if len(self._urls) > 1 and "target_session_attrs" not in url:
            options = {**options, "target_session_attrs": "read-write"}
        connection: DirectConnection = await asyncpg.connect(url, **options)
        try:
            await self.look_again(connection)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def look_again(self, connection: DirectConnection | Connection) -> None:
        """Compare the history of a server with the one before, and its clock with ours. Raises
        `ReplacedServer`."""
        if self._follow is not None:
            asked = time.monotonic()
            database_ms = await connection.fetchval(statements.read_clock.statement.postgres)
            self._follow(database_ms, int((time.monotonic() - asked) * 1_000) + 1)
        known, found = self._history, await read_server_history(connection)
        if found is None or found == known:
            return
        if known is not None and known.system == found.system and found.timeline < known.timeline:
            raise ReplacedServer(
                f"this server is at timeline {found.timeline}; timeline {known.timeline} has replaced it"
            )
        self._history = found
        if known is not None:
            log.warning("the database is another server than before: %s instead of %s", found, known)
            self._changed()


async def read_server_history(
    connection: DirectConnection | Connection,
) -> ServerHistory | None:
    """Return the history, or None where it cannot be read, such as on a service without WAL functions."""
    try:
        row = await connection.fetchrow(statements.read_server_history.statement.postgres)
    except asyncpg.PostgresError as error:
        log.info("this server does not tell its timeline: %s", error)
        return None
    return ServerHistory(row["system"], row["timeline"], row["synchronous"]) if row is not None else None


def split_hosts(url: str) -> list[str]:
    """Return an address for each host of an address."""
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    if "," not in hosts:
        return [url]
    return [urlunsplit(parts._replace(netloc=f"{user}{at}{host}")) for host in hosts.split(",")]
