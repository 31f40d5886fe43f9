"""Stage, approve, execute by one caller in process, against the same four transactions on bare SQLite.

What we add to the floor is the judging, the digests, the hash chain, the memory of the decision, the schedule of the
measurement, and the job that is taken back. The store is that of a local user's process (`assent stdio`), in which one
caller waits for each answer.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

import uvloop

from assent.stores.sqlite import SqliteStore
from benchmarks.figures import Figure, Limit, compared, in_turns, require
from benchmarks.rows.gate_account import account_for_loop
from benchmarks.rows.gate_floor import Floor
from benchmarks.rows.gate_world import Insider, database, in_status, world
from benchmarks.rows.store_loop import Cost, Stopwatch, figures

LOOPS: Final = 30
ROUNDS: Final = 51
WARM_UP: Final = 30
LIMIT: Final = Limit(times=2.9)
MOST_STATEMENTS: Final = 38
TARGET: Final = 2.6
"""What was aimed at. The note on the row says by measurement why it is not reached."""
AGAINST: Final = "the same four transactions on bare sqlite3"


def measure(scratch: Path) -> list[Figure]:
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        app = world(scratch, one_client=True)
        stack.callback(lambda: runner.run(app.close()))
        insider = Insider(app)
        runner.run(inside(insider, WARM_UP))
        floor = floor_beside(runner, scratch)
        stack.callback(floor.close)
        bare(floor, WARM_UP)
        costs = in_turns(
            {"ours": lambda: runner.run(inside(insider, LOOPS)), "theirs": lambda: bare(floor, LOOPS)}, ROUNDS
        )
        done = [in_status(path, "executed") for path in (database(scratch), floor.path)]
        for count, side in zip(done, ("in process", AGAINST), strict=True):
            require(count, LOOPS * ROUNDS + WARM_UP, f"stage, approve, execute, {side}: actions executed")
        statements, account = account_for_loop(runner, scratch / "account", partial(floor_beside, runner))
        counted = compared(
            "stage, approve, execute, 1 caller in process, statements",
            f"{MOST_STATEMENTS} statements",
            "statements",
            [round(statements)],
            [float(MOST_STATEMENTS)],
            successes=done[0],
            limit=Limit(times=1),
        )
        timed = figures(
            "stage, approve, execute, 1 caller in process",
            AGAINST,
            costs["ours"],
            costs["theirs"],
            successes=done[0],
            limit=LIMIT,
            note=f"why not {TARGET:g}×: a loop has {account}",
        )
        return [*timed, counted]


def floor_beside(runner: asyncio.Runner, data_dir: Path) -> Floor:
    """A floor that writes what a loop in this data directory left behind."""
    store = SqliteStore(data_dir / "floor.db")
    runner.run(store.open())
    runner.run(store.close())
    return Floor(store.path, database(data_dir))


async def inside(insider: Insider, loops: int) -> Cost:
    """What a loop costs through the tools."""
    watch = Stopwatch()
    for _ in range(loops):
        await insider.loop()
    return watch.cost(loops)


def bare(floor: Floor, loops: int) -> Cost:
    """What a loop costs on the floor."""
    work = floor.prepared(loops)
    watch = Stopwatch()
    floor.run(work)
    return watch.cost(loops)
