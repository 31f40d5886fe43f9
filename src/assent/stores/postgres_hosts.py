"""Connect to the PostgreSQL server that takes writes, where the address names several.

The hosts are tried in order, the one that served last first, each for a bounded time: a host that
does not answer must not hide the one that was promoted. A server whose timeline is behind one that
this process has seen was replaced by a failover and is never used again, also if it came back and
takes writes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from assent.kernel.structs import Record
from assent.sql.loader import statements

if TYPE_CHECKING:
    from collections.abc import Callable

    from asyncpg.pool import PoolConnectionProxy

    Connection = asyncpg.Connection[asyncpg.Record]

log = logging.getLogger("assent.stores")

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

    async def connect(self, *_: Any, **options: Any) -> Connection:
        """Open a connection to a host that takes writes. Takes the arguments of `asyncpg.connect`;
        the address is that of this object."""
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

    async def _connect_to(self, url: str, options: dict[str, Any]) -> Connection:
        if len(self._urls) > 1 and "target_session_attrs" not in url:
            options = {**options, "target_session_attrs": "read-write"}
        connection: Connection = await asyncpg.connect(url, **options)
        try:
            await self.look_again(connection)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def look_again(self, connection: Connection | PoolConnectionProxy[asyncpg.Record]) -> None:
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
    connection: Connection | PoolConnectionProxy[asyncpg.Record],
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
