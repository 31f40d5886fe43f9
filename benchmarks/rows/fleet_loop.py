"""The users' loop on PostgreSQL by 1, 2 and 4 processes behind round robin, eight callers.

Each process has a data directory of its own, as on a machine of its own. Every call of a caller goes to the next
process, so the three calls of a loop meet different ones. All processes run throughout; those that get no calls share
the jobs. Database, processes and callers share the cores of this machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any, Final, TypeVar

import asyncpg
import uvloop
from tests.support.postgres_server import Cluster, binaries

from benchmarks.figures import Figure, NotRun, compared, in_turns, require
from benchmarks.machine import assent, free_port, serving
from benchmarks.rows.gate_http import Line
from benchmarks.rows.gate_world import SECRETS
from benchmarks.rows.tool_call import new_key
from benchmarks.rows.user_loop import MANY, NOTIFY, User, post_all

PROCESSES: Final = (1, 2, 4)
LOOPS_OF_EACH: Final = 10
ROUNDS: Final = 7
T = TypeVar("T")


class Roamer(User):
    """A caller whose every call goes to the next process."""

    def __init__(self, ports: list[int], key: str) -> None:
        super().__init__(ports[0], key)
        self._lines = [Line(port, key) for port in ports]
        self._next = cycle(self._lines)

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        return await next(self._next).call(tool, arguments)

    def close(self) -> None:
        for line in self._lines:
            line.close()


def measure(scratch: Path) -> list[Figure]:
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        cluster = start_cluster(stack)
        ports, key = serve_fleet(stack, runner, scratch, cluster.url, max(PROCESSES))
        sides = {count: roamers(stack, ports[:count], key) for count in PROCESSES}
        for users in sides.values():
            runner.run(post_all(users, 2))
        before = runner.run(count_executed(cluster.url))
        costs = in_turns(
            {str(count): partial(run, runner, users, LOOPS_OF_EACH) for count, users in sides.items()},
            ROUNDS,
        )
        done = runner.run(count_executed(cluster.url)) - before
        require(done, MANY * LOOPS_OF_EACH * ROUNDS * len(PROCESSES), "loops on PostgreSQL: actions executed")
        return [_figure(count, costs, done // len(PROCESSES)) for count in PROCESSES]


def _figure(count: int, costs: dict[str, list[float]], done: int) -> Figure:
    ours, alone = costs[str(count)], costs["1"]
    return compared(
        f"post, approve, execute on PostgreSQL, {count} process{'es' * (count > 1)}, {MANY} callers, time",
        "1 process",
        "µs",
        ours,
        alone,
        successes=done,
        note=f"{1e6 / median(ours):.0f} loops a second",
    )


def start_cluster(stack: ExitStack) -> Cluster:
    """A throwaway server on this machine that syncs every commit."""
    if binaries() is None:
        raise NotRun("PostgreSQL's server programs are not installed (Debian: apt-get install postgresql)")
    cluster = Cluster()
    stack.callback(cluster.delete)
    return cluster


def serve_fleet(
    stack: ExitStack, runner: asyncio.Runner, scratch: Path, url: str, processes: int
) -> tuple[list[int], str]:
    """The ports of so many processes on one database, and the key of a workspace whose people are notified."""
    ports = [free_port() for _ in range(processes)]
    shared = {
        "ASSENT_DATABASE_URL": url,
        "ASSENT_RATE_LIMIT_PER_MINUTE": "100000000",
        "ASSENT_STORAGE_QUOTA_MB": "100000000",
        **SECRETS,
    }
    key = ""
    for number, port in enumerate(ports):
        data_dir = scratch / f"process-{number}"
        data_dir.mkdir()
        settings = {**shared, "ASSENT_DATA_DIR": str(data_dir), "ASSENT_PORT": str(port)}
        if not key:
            key = new_key(settings)
            runner.run(_on(url, lambda connection: connection.execute(NOTIFY)))
        stack.enter_context(serving(assent("serve"), port, settings, data_dir / "server.log"))
    return ports, key


def roamers(stack: ExitStack, ports: list[int], key: str) -> list[User]:
    users: list[User] = [Roamer(ports, key) for _ in range(MANY)]
    for user in users:
        stack.callback(user.close)
    return users


def run(runner: asyncio.Runner, users: list[User], loops: int) -> float:
    """Microseconds for each loop, all callers at work at once."""
    return runner.run(post_all(users, loops)).wall


async def count_executed(url: str) -> int:
    sql = "SELECT count(*) FROM actions WHERE status = 'executed'"
    found: int = await _on(url, lambda connection: connection.fetchval(sql))
    return found


async def create_database(url: str, name: str) -> str:
    """The address of a new, empty database beside another."""
    await _on(url, lambda connection: connection.execute(f"CREATE DATABASE {name}"))
    return f"{url.rpartition('/')[0]}/{name}"


async def _on(url: str, ask: Callable[[Any], Awaitable[T]]) -> T:
    connection = await asyncpg.connect(url)
    try:
        return await ask(connection)
    finally:
        await connection.close()
