"""An approval, a status and lists where a workspace has 100,000 stored actions of 3,000 tenants, against 1,000 of 30.

Half of the stored actions wait for approval and half were executed, each with its run, asset, events, memory, job and
measurement: copies of two real ones under other ids, made in the database itself because staging them takes minutes.
`BENCH_ACTIONS=1000000` measures at a million.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any, Final

import uvloop

from assent.app import App
from assent.tools.approvals import ListPendingActions, list_pending_actions
from assent.tools.definition import Call
from assent.tools.guide import StatusRequest, status
from assent_launch.component import statements
from assent_launch.tools.memory import ListTenants, show_tenants
from benchmarks.figures import Figure, Limit, compared, in_turns, require
from benchmarks.rows.gate_world import LOCAL, Insider, database, in_status, world
from benchmarks.rows.store_loop import Cost, Stopwatch

MANY: Final = int(os.environ.get("BENCH_ACTIONS", "100000"))
FEW: Final = 1_000
APPROVALS: Final = 60
ROUNDS: Final = 15
LIMIT: Final = Limit(times=1.3)
LOOKS_AT_ONCE: Final = 10
LOOK_LIMIT: Final = Limit(times=2)
"""A status counts up to a thousand, so it may cost a little more where there is more to count."""
ACTIONS_OF_A_TENANT: Final = 33
TENANT: Final = "club-7"

LOOKS: Final[dict[str, tuple[Callable[[Call, Any], Awaitable[object]], Any]]] = {
    "status": (status, StatusRequest()),
    "status of one tenant": (status, StatusRequest(tenant_id=TENANT)),
    "what waits": (list_pending_actions, ListPendingActions(limit=20)),
    "what waits for one tenant": (list_pending_actions, ListPendingActions(limit=20, tenant_id=TENANT)),
    "a page of tenants": (show_tenants, ListTenants(limit=20)),
}
"""What an agent reads, and how."""

COPIED: Final[dict[str, str]] = {
    "runs": "run_id",
    "assets": "run_id",
    "actions": "run_id",
    "streams": "stream_id",
    "events": "stream_id",
    "launch_brain_entries": "run_id",
    "launch_measurements": "run_id",
    "jobs": "key",
}
"""Tables that grow with actions, and the column that names the run."""
IDS: Final = frozenset({"asset_id", "action_id", "entry_id", "job_id", "natural_key", *COPIED.values()})
"""Columns in which a copy differs."""
NUMBER: Final = "number"
"""A column that the store fills by itself, for copies too."""


def measure(scratch: Path) -> list[Figure]:
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        sizes = {"many": MANY, "few": FEW}
        insiders: dict[str, Insider] = {}
        waiting: dict[str, list[str]] = {}
        for name, size in sizes.items():
            runner.run(grown(scratch / name, size))
            app = world(scratch / name)
            stack.callback(_closed, runner, app)
            insiders[name] = Insider(app)
            waiting[name] = runner.run(_staged(insiders[name], APPROVALS * (ROUNDS + 1)))
            runner.run(_approved(insiders[name], waiting[name]))
        costs = in_turns(
            {name: partial(_round, runner, insiders[name], waiting[name]) for name in sizes}, ROUNDS
        )
        looks = [_compare_looks(name, runner, insiders) for name in LOOKS]
        work = f"approve at {MANY:,} stored actions, time"
        done = [in_status(database(scratch / name), "approved") for name in sizes]
        for count in done:
            require(count, APPROVALS * (ROUNDS + 1), f"{work}: actions approved")
        return [
            compared(
                work,
                f"the same at {FEW:,}",
                "µs",
                [cost.wall for cost in costs["many"]],
                [cost.wall for cost in costs["few"]],
                successes=done[0],
                limit=LIMIT,
            ),
            *looks,
        ]


def _compare_looks(name: str, runner: asyncio.Runner, insiders: dict[str, Insider]) -> Figure:
    async def look(insider: Insider) -> Cost:
        tool, request = LOOKS[name]
        watch = Stopwatch()
        for _ in range(LOOKS_AT_ONCE):
            await tool(await insider.next_call(), request)
        return watch.cost(LOOKS_AT_ONCE)

    def run(insider: Insider) -> Cost:
        return runner.run(look(insider))

    costs = in_turns({size: partial(run, insider) for size, insider in insiders.items()}, ROUNDS)
    return compared(
        f"{name} at {MANY:,} stored actions of {_count_tenants(MANY):,} tenants, time",
        f"the same at {FEW:,} of {_count_tenants(FEW)}",
        "µs",
        [cost.wall for cost in costs["many"]],
        [cost.wall for cost in costs["few"]],
        successes=LOOKS_AT_ONCE * ROUNDS,
        limit=LOOK_LIMIT,
    )


def _count_tenants(size: int) -> int:
    return size // ACTIONS_OF_A_TENANT


def _round(runner: asyncio.Runner, insider: Insider, waiting: list[str]) -> Cost:
    return runner.run(_approved(insider, waiting))


def _closed(runner: asyncio.Runner, app: App) -> None:
    runner.run(app.close())


async def _staged(insider: Insider, count: int) -> list[str]:
    return [await insider.stage() for _ in range(count)]


async def _approved(insider: Insider, waiting: list[str]) -> Cost:
    """What an approval costs; takes its actions from the list."""
    taken = [waiting.pop() for _ in range(APPROVALS)]
    watch = Stopwatch()
    for action_id in taken:
        await insider.approve(action_id)
    return watch.cost(len(taken))


async def grown(data_dir: Path, size: int) -> None:
    """A data directory whose local workspace holds so many actions."""
    app = world(data_dir)
    insider = Insider(app)
    await insider.loop()
    await insider.stage()
    await app.close()
    with closing(sqlite3.connect(database(data_dir))) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # nobody has been told of anything yet
        with connection:
            connection.execute("CREATE TEMP TABLE patterns AS SELECT run_id FROM runs")
            tenants = _count_tenants(size)
            for table, run in COPIED.items():
                _copy(connection, table, run, size // 2, tenants)
            connection.executemany(
                "INSERT INTO tenants VALUES (?, ?, ?, 0)",
                [(LOCAL, name, name) for name in (f"club-{number}" for number in range(tenants))],
            )
            connection.execute(statements.index_brain_words.statement.sqlite)
            # Words that come by the batch are merged as they come; a load like this leaves it to those who follow.
            connection.execute("INSERT INTO launch_brain_words (launch_brain_words) VALUES ('optimize')")
        stored = connection.execute("SELECT count(*) FROM actions").fetchone()[0]
        require(stored, size, f"actions stored in {data_dir.name}")


def _copy(connection: sqlite3.Connection, table: str, run: str, copies: int, tenants: int) -> None:
    """Copies of every row of a real run, under ids of the same length and age, each for one of the tenants."""
    told = connection.execute(f"PRAGMA table_xinfo({table})").fetchall()
    columns = [name for _, name, _, _, _, _, hidden in told if not hidden and name != NUMBER]
    made = {name: f"substr({name}, 1, 24) || printf('%012x', copy) || substr({name}, 37)" for name in IDS}
    made["tenant_id"] = f"printf('club-%d', copy % {tenants})"
    values = [made.get(name, name) for name in columns]
    connection.execute(
        "WITH RECURSIVE copies (copy) AS"
        f" (SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < {copies})"
        f" INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {table}, copies"
        f" WHERE {run} IN (SELECT run_id FROM patterns)"
    )
