"""Where the time of a loop goes, for the note on its row: statements, pages of log, commits, Python.

The connections that count are slower, so their loops are in no figure.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import msgspec

from benchmarks.rows.gate_floor import Floor
from benchmarks.rows.gate_world import Insider, database, world

LOOPS: Final = 30
"""Fewer than fill the log, so that its length counts every page."""
FRAME_BYTES: Final = 4_096 + 24


class CountingConnection(sqlite3.Connection):
    """Counts its statements, and the microseconds of its commits and of all others."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.statements, self.seconds = 0, {"commits": 0.0, "others": 0.0}
        OPEN.append(self)

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        began = time.perf_counter()
        try:
            return super().execute(sql, *values)
        finally:
            self.statements += 1
            self.seconds["commits" if sql == "COMMIT" else "others"] += time.perf_counter() - began


OPEN: Final[list[CountingConnection]] = []
"""The connections of one side."""


class Account(msgspec.Struct, frozen=True):
    """One loop: how much of what, and microseconds."""

    statements: float
    pages: float
    wall: float
    commits: float
    others: float

    @property
    def python(self) -> float:
        return self.wall - self.commits - self.others


def account_for_loop(
    runner: asyncio.Runner, scratch: Path, make_floor: Callable[[Path], Floor]
) -> tuple[float, str]:
    """Return the statements of our loop, and say what it does beside the floor's."""
    with patch.object(sqlite3, "connect", partial(sqlite3.connect, factory=CountingConnection)):
        OPEN.clear()
        app = world(scratch, one_client=True)
        insider = Insider(app)
        ours = _account(database(scratch), lambda: runner.run(_loops(insider)))
        OPEN.clear()
        floor = make_floor(scratch)
        theirs = _account(floor.path, lambda: floor.run(floor.prepared(LOOPS)))
        floor.close()
        runner.run(app.close())
    return ours.statements, (
        f"{ours.statements:.0f} statements and {ours.pages:.0f} pages of log, the floor {theirs.statements:.0f} and "
        f"{theirs.pages:.0f}; commits take {ours.commits:.0f} µs (the floor's {theirs.commits:.0f}), other statements "
        f"{ours.others:.0f} ({theirs.others:.0f}), Python {ours.python:.0f} ({theirs.python:.0f})"
    )


async def _loops(insider: Insider) -> None:
    for _ in range(LOOPS):
        await insider.loop()


def _account(path: Path, run: Callable[[], None]) -> Account:
    for _ in range(3):
        run()  # until the log has its full length and is written again from its beginning
    before = _add_up()
    began = time.perf_counter()
    run()
    wall = time.perf_counter() - began
    statements, commits, others = ((now - then) / LOOPS for now, then in zip(_add_up(), before, strict=True))
    # The log is as long as its pages only right after it was emptied; then it grows, which slows the commits.
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    run()
    pages = path.with_name(f"{path.name}-wal").stat().st_size // FRAME_BYTES
    return Account(statements, pages / LOOPS, wall / LOOPS * 1e6, commits * 1e6, others * 1e6)


def _add_up() -> tuple[int, float, float]:
    """Return the statements, and the seconds of commits and of others, of all connections."""
    return (
        sum(each.statements for each in OPEN),
        sum(each.seconds["commits"] for each in OPEN),
        sum(each.seconds["others"] for each in OPEN),
    )
