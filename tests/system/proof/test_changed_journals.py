"""Any change of the journal before the last exported checkpoint is found, wherever it is made."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.effort import rounds
from tests.support.jobs.kit import Clock
from tests.support.proof.ground import START_MS, Ground, Workers
from tests.support.proof.parts import app_for
from tests.support.proof.worker import Turn
from tests.support.proof.workload import FATES, Life
from tests.support.reliability import Prove
from tests.support.sqlite_files import new_sqlite

from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Checkpoint, Signer
from assent.kernel.limits import DAY_MS

pytestmark = [pytest.mark.slow, pytest.mark.prove]

TRIALS = rounds(3, 60)
"""Of each kind of change."""


def change(file: sqlite3.Connection, stream: str, seq: int) -> None:
    file.execute(
        "UPDATE events SET body = replace(body, '{', '{\"x\":1,') WHERE stream_id = ? AND seq = ?",
        (stream, seq),
    )


def remove(file: sqlite3.Connection, stream: str, seq: int) -> None:
    file.execute("DELETE FROM events WHERE stream_id = ? AND seq = ?", (stream, seq))


def cut(file: sqlite3.Connection, stream: str, seq: int) -> None:
    """Cut so that the chain itself holds: the head goes back to the event before."""
    file.execute("DELETE FROM events WHERE stream_id = ? AND seq >= ?", (stream, seq))
    file.execute(
        "UPDATE streams SET seq = ?, hash = coalesce((SELECT hash FROM events WHERE stream_id = ? AND seq = ?), ?)"
        " WHERE stream_id = ?",
        (seq - 1, stream, seq - 1, "0" * 64, stream),
    )


def forget(file: sqlite3.Connection, stream: str, seq: int) -> None:
    """Remove the stream as if it had never been."""
    for table in ("events", "streams"):
        file.execute(f"DELETE FROM {table} WHERE stream_id = ?", (stream,))


CHANGES: tuple[Callable[[sqlite3.Connection, str, int], None], ...] = (change, remove, cut, forget)


async def test_a_changed_journal_is_found(
    tmp_path: Path, provider: tuple[str, Path], workers: Workers, prove: Prove
) -> None:
    ground = Ground(new_sqlite(tmp_path / "assent.db"), tmp_path, provider, workers)
    lives = [Turn(Life(f"a life of {fate}", "page", fate)) for fate in FATES]
    assert ground.run(ground.task(lives)) == 0
    checkpoint = await verify(tmp_path, provider[0], sign=True)
    assert isinstance(checkpoint, Checkpoint)
    assert await verify(tmp_path, provider[0], checkpoint) is True
    with closing(sqlite3.connect(tmp_path / "assent.db")) as file:
        events = file.execute("SELECT stream_id, seq FROM events ORDER BY stream_id, seq").fetchall()
    chance = random.Random("changed journals")  # noqa: S311 - a choice of tests
    found: Counter[str] = Counter()
    for number in range(TRIALS * len(CHANGES)):
        tamper, (stream, seq) = CHANGES[number % len(CHANGES)], chance.choice(events)
        folder = tmp_path / f"copy {number}"
        folder.mkdir()
        with closing(sqlite3.connect(tmp_path / "assent.db")) as file:
            file.execute("VACUUM INTO ?", (str(folder / "assent.db"),))
        with closing(sqlite3.connect(folder / "assent.db")) as file, file:
            tamper(file, stream, seq)
        assert await verify(folder, provider[0], checkpoint) is False, (tamper.__name__, stream, seq)
        found[tamper.__name__] += 1
        shutil.rmtree(folder)
    prove.row("changed journals found by the server's own check", "changes", found.total(), places=found)


async def verify(
    folder: Path, provider_url: str, kept: Checkpoint | None = None, *, sign: bool = False
) -> Checkpoint | bool | None:
    """Whether the journal is as it was written; or sign it as it is."""
    # A server that misses the stream of its seals writes its first event again; a day later that is another event.
    clock = Clock(START_MS if sign else START_MS + DAY_MS)
    app = app_for(f"sqlite:///{folder / 'assent.db'}", folder, provider_url, clock)
    try:
        signer = Signer(app.keys.master)
        if sign:
            return await app.store.write(lambda: audit_log.write_checkpoint(signer, START_MS))
        return (await audit_log.verify(app.store, signer, kept)).ok
    finally:
        await app.close()
