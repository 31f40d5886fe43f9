"""What only SQLite has to take care of: its log, its threads, and its turn among processes."""

from __future__ import annotations

import asyncio
import math
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from tests.support.stores.kit import DEADLINE_SECONDS, append, count, marks

from assent.ports import Transaction
from assent.stores import sqlite_transactions
from assent.stores.sqlite import SqliteStore
from assent.stores.sqlite_connection import connect_reader, connect_writer
from assent.stores.sqlite_reading import ShortReads
from assent.stores.sqlite_transactions import Turnstile

KILOBYTES = 1024


def know_held_reads(store: SqliteStore) -> None:
    """Make the store know that reads by `Held` are long, as it learns by the first one that SQLite takes long for."""
    store._short_reads = ShortReads(store.path)
    store._short_reads._long[Held] = math.inf
    sqlite_transactions._ask_again.add(Held)


def size(path: Path) -> int:
    return path.stat().st_size


class Held:
    """A read that keeps its snapshot until it is told to end."""

    def __init__(self) -> None:
        self.looking = threading.Event()
        self.end = threading.Event()

    def __call__(self) -> Transaction[int]:
        yield from count()
        self.looking.set()
        self.end.wait(DEADLINE_SECONDS)
        return (yield from count())


async def test_the_log_stays_short_and_a_long_read_only_delays_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_transactions, "LOG_BYTES", 256 * KILOBYTES)
    store = SqliteStore(tmp_path / "store.db")
    await store.write(lambda: append("s", "first"))
    log = tmp_path / "store.db-wal"
    know_held_reads(store)
    held = Held()
    reading = asyncio.create_task(store.read(held))
    assert await asyncio.to_thread(held.looking.wait, DEADLINE_SECONDS)
    for number in range(60):
        await store.write(lambda number=number: append("s", f"{number}" * 10_000))  # type: ignore[misc]
    assert size(log) > 256 * KILOBYTES
    held.end.set()
    assert await reading == 1
    for number in range(60):
        await store.write(lambda number=number: append("s", f"{number}" * 10_000))  # type: ignore[misc]
    assert size(log) < 512 * KILOBYTES
    assert len(await marks(store, "s")) == 121
    await store.close()
    assert not log.exists()


async def test_a_batch_keeps_what_it_may_put_back_in_memory(tmp_path: Path) -> None:
    in_memory = 2
    with closing(connect_writer(tmp_path / "store.db", None)) as writer:
        assert writer.execute("PRAGMA temp_store").fetchone()[0] == in_memory


async def test_slow_reads_do_not_hold_up_each_other_or_a_write(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db", readers=3)
    await store.write(lambda: append("s", "first"))
    know_held_reads(store)
    slow = [Held(), Held()]
    reading = [asyncio.create_task(store.read(held)) for held in slow]
    for held in slow:
        assert await asyncio.to_thread(held.looking.wait, DEADLINE_SECONDS)
    assert await store.read(count) == 1
    await store.write(lambda: append("another", "second"))
    assert await store.read(count) == 2
    for held in slow:
        held.end.set()
    assert await asyncio.gather(*reading) == [1, 1]
    await store.close()


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[list[Turnstile]]:
    """Four writers of one file, as four processes would be."""
    writers = [Turnstile(tmp_path / "store.db") for _ in range(4)]
    yield writers
    for writer in writers:
        writer.close()


class TestTurnstile:
    def test_one_writer_at_a_time_has_the_turn(self, queue: list[Turnstile]) -> None:
        first, second, *_ = queue
        assert first.acquire(0)
        assert not second.acquire(0)
        first.release()
        assert second.acquire(DEADLINE_SECONDS)

    def test_who_has_just_written_lines_up_behind_who_waits(self, queue: list[Turnstile]) -> None:
        busy, waiting, *_ = queue
        for _ in range(20):
            assert busy.acquire(DEADLINE_SECONDS)
            assert not waiting.acquire(0)
            busy.release()
            assert not busy.acquire(0)
            assert waiting.acquire(DEADLINE_SECONDS)
            waiting.release()
            assert busy.acquire(DEADLINE_SECONDS)
            busy.release()

    def test_every_writer_gets_its_turn(self, queue: list[Turnstile]) -> None:
        turns: list[int] = []
        start = threading.Barrier(len(queue))

        def write(number: int) -> None:
            start.wait(DEADLINE_SECONDS)
            for _ in range(50):
                assert queue[number].acquire(DEADLINE_SECONDS)
                turns.append(number)
                queue[number].release()

        threads = [threading.Thread(target=write, args=(number,)) for number in range(len(queue))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE_SECONDS)
        assert sorted(turns) == [number for number in range(4) for _ in range(50)]

    def test_a_wait_that_was_given_up_leaves_no_turn_behind(self, queue: list[Turnstile]) -> None:
        first, second, third, _ = queue
        assert first.acquire(0)
        assert not second.acquire(0)
        second.close()
        first.release()
        assert third.acquire(DEADLINE_SECONDS)


def give(content: Held) -> Transaction[Held]:
    yield from count()
    return content


async def test_an_idle_store_keeps_nothing_of_its_last_calls(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    gone = threading.Semaphore(0)
    for run in (store.write, store.read):
        content = Held()
        weakref.finalize(content, gone.release)
        await run(partial(give, content))
        del content
        assert await asyncio.to_thread(gone.acquire, timeout=DEADLINE_SECONDS)
    await store.close()


def test_the_writer_syncs_every_commit_and_a_reader_cannot_write(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with closing(connect_writer(file, None)) as writer, closing(connect_reader(file)) as reader:
        settings = [
            writer.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
        assert settings == ["wal", 2, 1]
        assert reader.execute("PRAGMA query_only").fetchone()[0] == 1
