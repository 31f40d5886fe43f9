"""The writes of a caller that is alone run on its own thread; all others go through the queue."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest
from tests.support.stores.kit import DEADLINE_SECONDS, SQL, WORKSPACE, append, at_rest, marks, put

from assent.ports import StoreUnavailable, Transaction, UniqueViolation
from assent.stores import sqlite_reading, sqlite_transactions
from assent.stores.sqlite import SqliteStore
from assent.stores.sqlite_transactions import Turnstile

HERE = True


def noted(value: object) -> Transaction[bool]:
    """Append, and say whether that ran on the thread of the test."""
    yield from append("s", value)
    return threading.current_thread() is threading.main_thread()


def counted() -> Transaction[tuple[int, bool]]:
    """How many streams there are, and whether that was read on the thread of the test."""
    rows = yield SQL["count"](workspace_id=WORKSPACE)
    return rows[0]["n"], threading.current_thread() is threading.main_thread()


class Stopped(Exception):  # noqa: N818 - what happened
    """What a transaction raises."""


def stopped() -> Transaction[None]:
    yield from append("s", "never")
    raise Stopped


def twice() -> Transaction[None]:
    yield from append("s", "never")
    for _ in range(2):
        yield SQL["put"](workspace_id=WORKSPACE, stream_id="t", seq=1)


async def one_by_one(store: SqliteStore, values: Iterable[object]) -> list[bool]:
    """Each in a round of its own, as the calls of a client that waits for its answers."""
    went = []
    for value in values:
        went.append(await store.write(lambda value=value: noted(value)))  # type: ignore[misc]
        await asyncio.sleep(0)
        await at_rest(store)
    return went


@pytest.fixture
async def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqliteStore]:
    """An open store whose disk is never slow."""
    monkeypatch.setattr(sqlite_transactions, "BRIEF_SECONDS", DEADLINE_SECONDS)
    opened = SqliteStore(tmp_path / "store.db", is_alone=lambda: True)
    await opened.open()
    await at_rest(opened)
    yield opened
    await opened.close()


async def test_writes_one_after_the_other_change_no_thread(store: SqliteStore) -> None:
    assert await one_by_one(store, range(5)) == [HERE] * 5
    assert await marks(store, "s") == [0, 1, 2, 3, 4]


async def test_writes_that_come_together_share_the_writer(store: SqliteStore) -> None:
    together = await asyncio.gather(*(store.write(lambda n=n: noted(n)) for n in range(20)))  # type: ignore[misc]
    assert together == [HERE] + [not HERE] * 19
    assert await marks(store, "s") == list(range(20))
    await at_rest(store)
    assert await one_by_one(store, ["alone again"]) == [HERE]


async def test_what_one_task_writes_in_a_row_changes_no_thread(store: SqliteStore) -> None:
    assert [await store.write(lambda n=n: noted(n)) for n in range(5)] == [HERE] * 5  # type: ignore[misc]


async def test_a_short_read_changes_no_thread(store: SqliteStore) -> None:
    await one_by_one(store, ["seen"])
    assert await store.read(counted) == (1, HERE)


async def test_a_long_read_is_left_to_a_thread(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    await store.write(lambda: put(*map(str, range(1_000))))
    with monkeypatch.context() as slow:
        slow.setattr(sqlite_transactions, "BRIEF_SECONDS", -1.0)
        assert await store.read(counted) == (1_000, not HERE)
    assert await one_by_one(store, ["seen"]) == [HERE]
    assert await store.read(counted) == (1_001, HERE)


async def test_a_read_that_fails_raises_its_own_error(store: SqliteStore) -> None:
    def refused() -> Transaction[None]:
        yield SQL["count"](workspace_id=WORKSPACE)
        raise Stopped

    with pytest.raises(Stopped):
        await store.read(refused)
    with pytest.raises(StoreUnavailable):
        await store.read(lambda: noted("a read may not write"))
    await at_rest(store)
    assert await one_by_one(store, ["after it"]) == [HERE]
    assert await store.read(counted) == (1, HERE)


async def test_a_task_that_writes_on_and_on_lets_others_run(store: SqliteStore) -> None:
    written: list[bool] = []
    seen: list[int] = []

    async def other() -> None:
        seen.append(len(written))

    task = asyncio.create_task(other())
    for number in range(10):
        written.append(await store.write(lambda number=number: noted(number)))  # type: ignore[misc]
    await task
    assert seen[0] < 10


async def test_a_server_of_many_clients_writes_on_its_thread_and_reads_briefly_here(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    assert await one_by_one(store, range(3)) == [not HERE] * 3
    assert await store.read(counted) == (1, HERE)
    with pytest.raises(StoreUnavailable):
        await store.read(lambda: noted("a read may not write"))
    assert await store.read(counted) == (1, HERE)
    await store.close()


async def test_a_long_read_of_many_clients_is_left_to_a_thread_for_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "store.db")
    await store.write(lambda: put(*map(str, range(1_000))))
    with monkeypatch.context() as slow:
        slow.setattr(sqlite_reading, "BRIEF_SECONDS", -1.0)
        assert await store.read(counted) == (1_000, not HERE)
    assert await store.read(counted) == (1_000, not HERE)
    assert await store.read(lambda: counted()) == (1_000, HERE)
    assert store._short_reads is not None
    [known] = store._short_reads._long
    store._short_reads._long[known] = time.monotonic()
    assert await store.read(counted) == (1_000, HERE)
    await store.close()


async def test_a_task_that_reads_on_and_on_lets_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "store.db")
    await store.write(lambda: put("one"))
    ran: list[bool] = []
    asyncio.get_running_loop().call_soon(ran.append, True)
    monkeypatch.setattr(sqlite_reading, "BRIEF_SECONDS", DEADLINE_SECONDS)
    assert await store.read(counted) == (1, HERE)
    assert not ran
    assert store._short_reads is not None
    store._short_reads._turn_began = -DEADLINE_SECONDS
    assert await store.read(counted) == (1, HERE)
    assert ran
    await store.close()


async def test_after_a_slow_commit_the_next_one_holds_up_nobody(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_transactions, "BRIEF_SECONDS", 0.0)
    assert await one_by_one(store, ["slow", "next"]) == [HERE, not HERE]
    monkeypatch.setattr(sqlite_transactions, "BRIEF_SECONDS", DEADLINE_SECONDS)
    assert await one_by_one(store, ["quick once more", "back"]) == [not HERE, HERE]


async def test_the_log_is_looked_after_all_the_same(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store._writer is not None
    monkeypatch.setattr(sqlite_transactions, "LOG_BYTES", 200_000)
    store._writer._log_limit = 200_000
    log = store.path.with_name(store.path.name + "-wal")
    went, longest = [], 0
    for number in range(60):
        went += await one_by_one(store, [f"{number}{'x' * 20_000}"])
        longest = max(longest, log.stat().st_size)
    assert went.count(HERE) > 40 and went.count(not HERE) > 2
    assert longest < 300_000


async def test_the_event_loop_goes_on_while_another_process_writes(
    store: SqliteStore, tmp_path: Path
) -> None:
    other = Turnstile(tmp_path / "store.db")
    assert other.acquire(DEADLINE_SECONDS)
    waiting = asyncio.create_task(store.write(lambda: noted("in turn")))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    other.release()
    assert await waiting == (not HERE)
    other.close()


async def test_a_turn_is_not_taken_before_who_waits_for_it(store: SqliteStore, tmp_path: Path) -> None:
    busy, lined_up = Turnstile(tmp_path / "store.db"), Turnstile(tmp_path / "store.db")
    assert busy.acquire(DEADLINE_SECONDS)
    assert not lined_up.acquire(0)
    late = Turnstile(tmp_path / "store.db")
    assert not late.take_if_free()
    busy.release()
    assert lined_up.acquire(DEADLINE_SECONDS)
    assert not late.take_if_free()
    lined_up.release()
    assert late.take_if_free()
    late.release()
    for each in (busy, lined_up, late):
        each.close()
    assert await store.write(lambda: noted("free again")) == HERE


async def test_what_fails_takes_back_itself_and_nothing_else(store: SqliteStore) -> None:
    await one_by_one(store, ["kept"])
    with pytest.raises(Stopped):
        await store.write(stopped)
    await asyncio.sleep(0)
    with pytest.raises(UniqueViolation):
        await store.write(twice)
    await asyncio.sleep(0)
    assert await one_by_one(store, ["after it"]) == [HERE]
    assert await marks(store, "s") == ["kept", "after it"]


async def test_who_is_interrupted_in_the_middle_leaves_nothing_half_done(store: SqliteStore) -> None:
    def interrupted() -> Transaction[None]:
        yield from append("s", "never")
        raise KeyboardInterrupt

    await one_by_one(store, ["kept"])
    with pytest.raises(KeyboardInterrupt):
        await store.write(interrupted)
    await asyncio.sleep(0)
    assert await one_by_one(store, ["after it"]) == [HERE]
    assert await marks(store, "s") == ["kept", "after it"]


async def test_who_is_cancelled_before_a_write_gets_what_was_written_and_ends_at_the_next(
    store: SqliteStore,
) -> None:
    said: list[bool] = []

    async def writes() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        said.append(await store.write(lambda: noted("committed")))
        said.append(await store.write(lambda: noted("never begun, or begun and kept")))

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(writes())
    assert said == [HERE]
    await at_rest(store)
    assert (await marks(store, "s"))[0] == "committed"


async def test_a_caller_with_company_shares_the_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_transactions, "BRIEF_SECONDS", DEADLINE_SECONDS)
    calls = 2
    store = SqliteStore(tmp_path / "store.db", is_alone=lambda: calls == 1)
    await store.open()
    await at_rest(store)
    assert await one_by_one(store, range(3)) == [not HERE] * 3
    calls = 1
    assert await one_by_one(store, range(3)) == [HERE] * 3
    await store.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db", is_alone=lambda: True)
    await store.write(lambda: noted("one"))
    await store.close()
    with pytest.raises(StoreUnavailable):
        await store.write(lambda: noted("late"))
    with pytest.raises(StoreUnavailable):
        await store.read(counted)
