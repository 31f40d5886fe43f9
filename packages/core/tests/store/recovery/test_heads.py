"""A SQLite store that lost its log or was replaced is refused; a killed process never makes it look so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.support.surfaces import ManualClock, settings_for

from assent.app import App
from assent.engine.core import journal
from assent.engine.recovery.positions import Restore
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.ports import StoreUnavailable
from assent.processes.store_position import StoreBehind


def make_app(directory: Path) -> App:
    return App(settings_for(f"sqlite:///{directory / 'assent.db'}", directory), clock=ManualClock())


async def write(app: App, times: int = 1) -> None:
    for _ in range(times):
        await app.store.write(lambda: journal.note(SYSTEM_WORKSPACE, "tested", {"text": "x" * 500}, 1))


def kill(directory: Path, left: Path, *suffixes: str) -> Path:
    """The files as a killed process leaves them, in a directory of their own."""
    left.mkdir()
    for suffix in ("", ".head", *suffixes):
        shutil.copyfile(directory / f"assent.db{suffix}", left / f"assent.db{suffix}")
    return left


def read_files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir() if "shm" not in path.name}


async def opens(directory: Path) -> bool:
    app = make_app(directory)
    before = read_files(directory)
    try:
        await app.prepare()
    except StoreBehind:
        # A refused store is left as it was, so that it can be repaired.
        after = read_files(directory)
        assert {name: after.get(name) for name in before} == before
        return False
    finally:
        await app.close()
    return True


async def test_a_lost_or_damaged_log_is_refused_and_a_killed_process_is_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    app = make_app(home)
    other = make_app(home)
    await app.prepare()
    await other.prepare()
    for _ in range(5):
        await write(app, 4)
        await write(other)
        await app.heads.record()
        await other.heads.record()
        # Killed between two commits, and before or after the file was written: nothing is missing.
        await write(app)
    killed = kill(home, tmp_path / "killed", "-wal")
    assert await opens(killed)
    assert not await opens(kill(home, tmp_path / "no-log"))
    for name, cut in (("cut", 0.5), ("noise", 0.9)):
        left = kill(home, tmp_path / name, "-wal")
        log = left / "assent.db-wal"
        content = log.read_bytes()
        at = int(len(content) * cut) if name == "cut" else len(content) - 30_000
        log.write_bytes(content[:at] + (b"" if name == "cut" else bytes(2_000) + content[at + 2_000 :]))
        assert not await opens(left), name
    gone = kill(home, tmp_path / "gone")
    (gone / "assent.db").unlink()
    assert not await opens(gone)
    await other.close()
    await app.close()
    assert await opens(home)


async def test_a_file_that_is_replaced_under_a_running_server_is_not_used(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    first = make_app(home)
    await first.prepare()
    await first.close()
    old = (home / "assent.db").read_bytes()
    app = make_app(home)
    await app.prepare()
    await write(app)
    await app.heads.record()
    for suffix in ("-wal", "-shm"):
        (home / f"assent.db{suffix}").unlink()
    (home / "copy").write_bytes(old)
    (home / "copy").replace(home / "assent.db")
    with pytest.raises(StoreUnavailable, match="older than this server remembers"):
        await write(app)
    await app.close()


async def test_a_store_that_falls_behind_while_it_runs_is_held_at_once(tmp_path: Path) -> None:
    """As PostgreSQL after a failover that lost writes: the address is the same, the number is not."""
    app = make_app(tmp_path)
    await app.prepare()
    await app.heads.record()
    await app.heads.record()
    found: list[Restore] = []

    async def hold(restore: Restore) -> None:
        found.append(restore)

    app.heads._hold = hold
    app.heads._reached = type(app.heads._reached)(0, 1_000)
    await app.heads.record()
    assert [each.since_ms for each in found] == [0]
    await app.heads.record()
    assert len(found) == 1
    await app.close()
