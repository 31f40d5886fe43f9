"""A broken world is `StoreUnavailable`, leaves nothing half done, and is over when it is over: no restart."""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from tests.support.stores.kit import append, at_rest, count, marks

from assent.ports import Store, StoreUnavailable
from assent.stores import open_store, sqlite_connection, sqlite_transactions
from assent.stores.sqlite_transactions import Turnstile

MEGABYTE = 1024 * 1024

Opened = Callable[[str], Store]


async def unavailable(store: Store, mark: str) -> bool:
    try:
        await store.write(lambda: append("s", mark))
    except StoreUnavailable:
        return True
    return False


@contextmanager
def limit(kind: int, value: int) -> Iterator[None]:
    """Lower one of this process's own limits for a while."""
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (value, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


def mounted(directory: Path, *options: str) -> bool:
    """Put a small disk of memory there; False where this process may not."""
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(directory)]
    return os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0


class SmallDisk:
    """A place that can be full: a disk of two megabytes, or where mounting is not allowed a limit on file sizes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.real = mounted(path, "size=2m")

    @contextmanager
    def full(self) -> Iterator[None]:
        if not self.real:
            with limit(resource.RLIMIT_FSIZE, 300_000):
                yield
            return
        ballast = self.path / "ballast"
        with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="space"):
            while True:
                file.write(b"x" * 4096)
        yield
        ballast.unlink()

    def close(self) -> None:
        if self.real:
            subprocess.run(["umount", str(self.path)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    disk = SmallDisk(tmp_path)
    yield disk
    disk.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture(params=[False, True], ids=["many clients", "one client"])
def opened(request: pytest.FixtureRequest) -> Opened:
    return partial(open_store, is_alone=lambda: request.param)


class TestSqlite:
    async def test_a_full_disk_is_said_and_is_over_when_there_is_room(
        self, opened: Opened, small_disk: SmallDisk
    ) -> None:
        store = opened(f"sqlite:///{small_disk.path}/store.db")
        filler = "x" * 5_000
        written = 0
        await store.write(lambda: append("s", "first"))
        with small_disk.full():
            while not await unavailable(store, f"{written}{filler}"):
                written += 1
            assert len(await marks(store, "s")) == 1 + written
        assert not await unavailable(store, "room")
        assert len(await marks(store, "s")) == 2 + written
        await store.close()

    async def test_one_write_too_large_for_the_disk_does_not_take_its_neighbours_down(
        self, opened: Opened, file: Path
    ) -> None:
        store = opened(f"sqlite:///{file}")
        await store.open()
        huge = "x" * 3 * MEGABYTE
        with limit(resource.RLIMIT_FSIZE, 800_000):
            bodies = ["a", huge, "b", huge, "c"]
            results = await asyncio.gather(*(unavailable(store, body) for body in bodies))
        assert results == [False, True, False, True, False]
        assert await marks(store, "s") == ["a", "b", "c"]
        await store.close()

    async def test_a_read_only_directory_is_said_and_is_over_when_it_is_not(
        self, opened: Opened, tmp_path: Path
    ) -> None:
        directory = tmp_path / "data"
        directory.mkdir()
        store = opened(f"sqlite:///{directory}/store.db")
        with read_only(directory):
            assert await unavailable(store, "early")
            with pytest.raises(StoreUnavailable):
                await store.read(count)
        assert not await unavailable(store, "late")
        assert await marks(store, "s") == ["late"]
        await store.close()

    async def test_a_file_that_is_no_database_is_left_alone(self, opened: Opened, file: Path) -> None:
        store = opened(f"sqlite:///{file}")
        with garbage_in(file):
            assert await unavailable(store, "early")
        assert not await unavailable(store, "late")
        await store.close()

    async def test_a_stranger_s_lock_is_waited_for_and_then_said(
        self, opened: Opened, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_connection, "BUSY_SECONDS", 0.05)
        store = opened(f"sqlite:///{file}")
        await store.open()
        with closing(sqlite3.connect(file, isolation_level=None)) as stranger:
            stranger.execute("BEGIN IMMEDIATE")
            assert await unavailable(store, "early")
            assert await store.read(count) == 0
            stranger.execute("ROLLBACK")
        assert not await unavailable(store, "late")
        await store.close()

    async def test_a_process_that_keeps_the_turn_is_waited_for_and_then_said(
        self, opened: Opened, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_transactions, "TURN_SECONDS", 0.05)
        store = opened(f"sqlite:///{file}")
        await store.open()
        stopped = Turnstile(file)
        assert stopped.acquire(1)
        assert await unavailable(store, "early")
        assert await unavailable(store, "still")
        assert await store.read(count) == 0
        monkeypatch.setattr(sqlite_transactions, "TURN_SECONDS", 10.0)
        stopped.release()
        assert not await unavailable(store, "late")
        stopped.close()
        await store.close()
        other = open_store(f"sqlite:///{file}")
        assert await marks(other, "s") == ["late"]
        await other.close()

    async def test_files_that_are_moved_away_get_no_more_commits_and_are_written_to_when_they_are_back(
        self, opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data, away = tmp_path / "data", tmp_path / "away"
        store = opened(f"sqlite:///{data}/store.db")
        await three_written(store, monkeypatch)
        data.rename(away)
        assert await unavailable(store, "early")
        with pytest.raises(StoreUnavailable):
            await store.read(count)
        assert not data.exists()
        away.rename(data)
        assert not await unavailable(store, "late")
        await store.close()
        other = open_store(f"sqlite:///{data}/store.db")
        assert await marks(other, "s") == ["first", "second", "third", "late"]
        await other.close()

    async def test_what_is_put_in_the_place_of_the_files_is_what_is_written_to(
        self, opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data = tmp_path / "data"
        address = f"sqlite:///{data}/store.db"
        store = opened(address)
        await three_written(store, monkeypatch)
        data.rename(tmp_path / "away")
        other = open_store(address)
        assert not await unavailable(other, "of another process")
        assert not await unavailable(store, "in the new files")
        assert await marks(store, "s") == ["of another process", "in the new files"]
        await other.close()
        await store.close()
        again = open_store(address)
        assert await marks(again, "s") == ["of another process", "in the new files"]
        await again.close()

    async def test_a_store_closed_while_it_waits_keeps_no_turn(
        self, opened: Opened, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_transactions, "TURN_SECONDS", 0.05)
        store, other = open_store(f"sqlite:///{file}"), opened(f"sqlite:///{file}")
        await store.open()
        stopped = Turnstile(file)
        assert stopped.acquire(1)
        assert await unavailable(store, "early")
        await store.close()
        monkeypatch.setattr(sqlite_transactions, "TURN_SECONDS", 10.0)
        stopped.close()
        assert not await unavailable(other, "late")
        await other.close()


async def three_written(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer has found its way and rests."""
    monkeypatch.setattr(sqlite_transactions, "BRIEF_SECONDS", 30.0)
    assert await store.read(count) == 0
    for mark in ("first", "second", "third"):
        assert not await unavailable(store, mark)
        await at_rest(store)


@contextmanager
def garbage_in(file: Path) -> Iterator[None]:
    garbage = b"This is not a database. " * 1_000
    file.write_bytes(garbage)
    yield
    assert file.read_bytes() == garbage
    file.unlink()


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir())) - 1


class TestBothStores:
    async def test_too_many_open_files_is_said_and_is_over_when_there_are_less(self, store_url: str) -> None:
        warm = open_store(store_url)
        await warm.read(count)  # imports what a connection needs
        await warm.close()
        store = open_store(store_url)
        with limit(resource.RLIMIT_NOFILE, open_files()):
            assert await unavailable(store, "early")
        assert not await unavailable(store, "late")
        assert await marks(store, "s") == ["late"]
        await store.close()


@contextmanager
def read_only(directory: Path) -> Iterator[None]:
    """Nothing can be made or changed there. Permissions do not bind root: for root it is a disk mounted read-only,
    and where mounting is not allowed a limit that lets no file grow."""
    if os.geteuid() != 0:
        directory.chmod(0o500)
        yield
        directory.chmod(0o700)
    elif mounted(directory, "ro"):
        yield
        subprocess.run(["umount", str(directory)], check=True)
    else:
        with limit(resource.RLIMIT_FSIZE, 0):
            yield
