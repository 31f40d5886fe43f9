"""A primary and a standby with real streaming replication, on two ports that stay: failed over as often as asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import asyncpg
from tests.support.postgres_server import Cluster

FAST = {"fsync": "off", "full_page_writes": "off", "wal_keep_size": "64MB"}
REPLICATING = (
    "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND ($1 = '' OR sync_state = $1)"
)


class Pair:
    """Two servers, of which one takes writes."""

    def __init__(self, *, synchronous: bool) -> None:
        self._synchronous = synchronous
        self.primary = Cluster(FAST)
        self.standby = Cluster(FAST, of=self.primary)
        ports = (self.primary.port, self.standby.port)
        self.url = "postgresql://postgres@" + ",".join(f"127.0.0.1:{port}" for port in ports)
        self.url += "/postgres?target_session_attrs=read-write"
        self.failovers = 0
        self._join()

    def fail_over(self) -> None:
        """Kill the primary and promote the standby."""
        self.primary.kill()
        self.standby.promote()
        self.failovers += 1

    def rejoin(self) -> None:
        """Make a new standby of the promoted server, at the place of the dead one."""
        port = self.primary.port
        self.primary.delete()
        self.primary, self.standby = self.standby, Cluster(FAST, of=self.standby, port=port)
        self._join()

    def catch_up(self) -> None:
        """Wait until the standby has all that the primary has."""
        _wait(
            self.primary.url, "SELECT bool_and(replay_lsn >= pg_current_wal_lsn()) FROM pg_stat_replication"
        )

    def detach(self) -> None:
        """Cut the replication: what is written from now on is on the primary alone."""
        self.standby.stop_following()
        _wait(self.primary.url, "SELECT count(*) = 0 FROM pg_stat_replication")

    def _join(self) -> None:
        if self._synchronous:
            self.primary.write_settings("synchronous_standby_names = '*'")
        wanted = "sync" if self._synchronous else ""
        _wait(self.primary.url, REPLICATING, wanted)

    def delete(self) -> None:
        self.standby.delete()
        self.primary.delete()


def _wait(url: str, question: str, *values: str) -> None:
    """Wait until the answer is true. In a thread, because the caller may have a running event loop."""

    async def ask() -> None:
        connection = await asyncpg.connect(url)
        try:
            async with asyncio.timeout(30):
                while not await connection.fetchval(question, *values):
                    await connection.execute("SELECT pg_sleep(0.02)")
        finally:
            await connection.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(ask())).result()


@contextmanager
def replicated(*, synchronous: bool) -> Iterator[Pair]:
    pair = Pair(synchronous=synchronous)
    try:
        yield pair
    finally:
        pair.delete()
