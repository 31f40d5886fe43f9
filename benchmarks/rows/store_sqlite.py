"""The store loop on SQLite against bare `sqlite3`: same statements, WAL, FULL, and every batch as full as it can be.

The floor is one thread without an event loop. It commits once for all callers each time, which is the most that group
commit can reach, so the ratio is what the queue, the savepoints, the chain and the hand-over to the loop cost.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import uvloop

from assent.stores.sqlite import SqliteStore
from assent.stores.sqlite_connection import CHECKPOINT_PAGES
from benchmarks.figures import Figure, Limit, in_turns, require
from benchmarks.rows.store_loop import (
    CALLERS,
    FLOOR,
    NEW_HEAD,
    ROUNDS,
    Cost,
    FloorTransaction,
    Plan,
    Stopwatch,
    calibrated,
    figures,
    floor_transactions,
    planned,
    through,
)

LIMITS: Final = {1: Limit(times=3), 16: Limit(times=2.5), 64: Limit(times=2.3)}


def measure(scratch: Path) -> list[Figure]:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        store, floor_path = SqliteStore(scratch / "ours.db"), scratch / "floor.db"
        runner.run(_made(floor_path))
        runner.run(store.open())
        with closing(_connect(floor_path)) as floor:
            lines = [line for callers in CALLERS for line in _lines(runner, store, floor, callers)]
        runner.run(store.close())
        return lines


def _lines(
    runner: asyncio.Runner, store: SqliteStore, floor: sqlite3.Connection, callers: int
) -> list[Figure]:
    each = runner.run(calibrated(store, callers))
    ours, theirs = planned(f"ours-{callers}", callers, each), planned(f"floor-{callers}", callers, each)
    costs = in_turns(
        {"ours": lambda: runner.run(through(store, ours())), "theirs": lambda: _bare(floor, theirs())}, ROUNDS
    )
    stored = [_events(store.path, f"ours-{callers}-"), _events_in(floor, f"floor-{callers}-")]
    for count, side in zip(stored, ("assent on SQLite", "bare sqlite3"), strict=True):
        require(count, callers * each * ROUNDS, f"{side}, {callers} callers, events on disk")
    return figures(
        f"transaction on SQLite, {callers} caller{'s' * (callers > 1)}",
        "bare sqlite3, full batches",
        costs["ours"],
        costs["theirs"],
        successes=stored[0],
        limit=LIMITS[callers],
    )


async def _made(path: Path) -> None:
    """A file with the newest schema."""
    store = SqliteStore(path)
    await store.open()
    await store.close()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    return connection


def _bare(connection: sqlite3.Connection, plan: Plan) -> Cost:
    """What the plan costs with nothing but the driver: one commit for one transaction of every caller."""
    by_caller = [floor_transactions(plan.stream(index), plan.each) for index in range(plan.callers)]
    batches: list[tuple[FloorTransaction, ...]] = list(zip(*by_caller, strict=True))
    lock, append, write, keep = (bound.statement.sqlite for bound in FLOOR)
    execute = connection.execute
    for index in range(plan.callers):
        execute(NEW_HEAD.format(stream=plan.stream(index)))
    watch = Stopwatch()
    for batch in batches:
        execute("BEGIN IMMEDIATE")
        for locked, appended, written, kept in batch:
            execute(lock, locked).fetchall()
            execute(append, appended).fetchall()
            execute(write, written)
            execute(keep, kept).fetchall()
        execute("COMMIT")
    return watch.cost(plan.transactions)


def _events(path: Path, prefix: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return _events_in(connection, prefix)


def _events_in(connection: sqlite3.Connection, prefix: str) -> int:
    rows = connection.execute("SELECT count(*) FROM events WHERE stream_id LIKE ? || '%'", (prefix,))
    count: int = rows.fetchone()[0]
    return count
