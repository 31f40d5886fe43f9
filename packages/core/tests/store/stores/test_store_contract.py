"""What every store promises, whichever it is."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.support.stores.kit import DEADLINE_SECONDS, SQL, WORKSPACE, count, in_a_thread, put

from assent.engine.core.journal import lock_head
from assent.ports import (
    ConstraintViolation,
    Guarded,
    Single,
    Store,
    StoreUnavailable,
    Transaction,
    UniqueViolation,
)
from assent.stores import open_store


class Stop(Exception):  # noqa: N818 - what a refusal is to the store: somebody else's exception
    """Raised by a transaction."""


def put_then_stop(*streams: str) -> Transaction[None]:
    yield from put(*streams)
    raise Stop(streams)


def put_around_then_stop(stream: str, begin: Callable[[], Transaction[Any]]) -> Transaction[None]:
    yield from put(stream)
    yield Guarded(begin=begin)
    raise Stop


def surround(before: str, begin: Callable[[], Transaction[Any]], after: str) -> Transaction[Any]:
    yield from put(before)
    rows = yield Guarded(begin=begin)
    yield from put(after)
    return rows[0][0] if rows else None


def statement(name: str) -> Transaction[Any]:
    return (yield SQL[name](**dict.fromkeys(SQL[name].statement.params, WORKSPACE)))


class TestStore:
    async def test_a_write_gives_its_result_and_stays(self, store: Store, store_url: str) -> None:
        assert await store.write(lambda: put("a", "b")) == "b"
        await store.close()
        again = open_store(store_url)
        assert await again.read(count) == 2
        await again.close()

    async def test_an_exception_of_a_transaction_reaches_its_caller_and_takes_everything_back(
        self, store: Store
    ) -> None:
        with pytest.raises(Stop) as caught:
            await store.write(lambda: put_then_stop("a", "b"))
        assert caught.value.args == (("a", "b"),)
        assert await store.read(count) == 0

    async def test_a_broken_key_is_a_unique_violation_and_takes_everything_back(self, store: Store) -> None:
        with pytest.raises(UniqueViolation):
            await store.write(lambda: put("a", "b", "a"))
        assert await store.read(count) == 0

    async def test_another_broken_constraint_is_not_taken_for_a_broken_key(self, store: Store) -> None:
        with pytest.raises(ConstraintViolation) as caught:
            await store.write(lambda: statement("put_null"))
        assert not isinstance(caught.value, UniqueViolation)

    async def test_a_bug_in_a_statement_is_not_taken_for_a_broken_database(self, store: Store) -> None:
        with pytest.raises(Exception, match="nowhere") as caught:
            await store.write(lambda: statement("nonsense"))
        assert not isinstance(caught.value, (StoreUnavailable, ConstraintViolation))
        assert await store.write(lambda: put("a")) == "a"

    async def test_a_value_that_no_column_can_hold_is_a_bug_too(self, store: Store) -> None:
        impossible: list[Any] = [{}, "text", 2**70]
        for bad in impossible:
            with pytest.raises(Exception, match=r".") as caught:
                await store.write(Single(SQL["put"](workspace_id=WORKSPACE, stream_id="a", seq=bad)))
            assert not isinstance(caught.value, StoreUnavailable)
        assert await store.read(count) == 0

    async def test_a_guarded_part_that_fails_is_taken_back_alone(self, store: Store) -> None:
        def raise_at_once() -> Transaction[None]:
            yield from ()
            raise Stop

        faults: list[tuple[Callable[[], Transaction[Any]], type[Exception]]] = [
            (lambda: put_then_stop("b"), Stop),
            (lambda: put("b", "before-1"), UniqueViolation),
            (lambda: statement("nonsense"), Exception),
            (raise_at_once, Stop),
            (lambda: put_around_then_stop("b", lambda: put("c")), Stop),
            (lambda: put_around_then_stop("b", lambda: put_then_stop("c")), Stop),
        ]
        for number, (begin, fault) in enumerate(faults):
            before = await store.read(count)
            error = await store.write(partial(surround, f"before-{number}", begin, f"after-{number}"))
            assert isinstance(error, fault)
            assert await store.read(count) == before + 2

    async def test_a_guarded_part_that_succeeds_stays(self, store: Store) -> None:
        assert await store.write(partial(surround, "before", lambda: put("b", "c"), "after")) is None
        assert await store.read(count) == 4

    async def test_a_transaction_that_fails_takes_its_guarded_part_back_too(self, store: Store) -> None:
        with pytest.raises(UniqueViolation):
            await store.write(partial(surround, "before", lambda: put("b"), "before"))
        assert await store.read(count) == 0

    async def test_a_database_that_is_gone_ends_the_transaction_and_not_the_guarded_part_alone(
        self, store: Store
    ) -> None:
        def lose() -> Transaction[None]:
            yield from put("b")
            raise StoreUnavailable("gone")

        with pytest.raises(StoreUnavailable):
            await store.write(partial(surround, "before", lose, "after"))
        assert await store.read(count) == 0

    async def test_neighbours_of_a_failing_transaction_are_not_hurt(self, store: Store) -> None:
        def begin(number: int) -> Callable[[], Transaction[Any]]:
            fates: list[Callable[[], Transaction[Any]]] = [
                lambda: put(f"good-{number}"),
                lambda: put_then_stop(f"stopped-{number}"),
                lambda: put(f"twice-{number}", f"twice-{number}"),
                lambda: statement("nonsense"),
            ]
            return fates[number % 4]

        results = await asyncio.gather(*(store.write(begin(n)) for n in range(120)), return_exceptions=True)
        assert [result for result in results if isinstance(result, str)] == [
            f"good-{n}" for n in range(0, 120, 4)
        ]
        assert sum(isinstance(result, Stop) for result in results) == 30
        assert sum(isinstance(result, UniqueViolation) for result in results) == 30
        assert await store.read(count) == 30

    async def test_a_transaction_of_one_statement_gives_its_rows(self, store: Store) -> None:
        assert await store.write(Single(SQL["put"](workspace_id=WORKSPACE, stream_id="a", seq=0))) == []
        rows = await store.read(Single(SQL["count"](workspace_id=WORKSPACE)))
        assert (rows[0]["n"], rows[0][0]) == (1, 1)
        with pytest.raises(UniqueViolation):
            await store.write(Single(SQL["put"](workspace_id=WORKSPACE, stream_id="a", seq=0)))

    async def test_a_transaction_without_statements_gives_its_result(self, store: Store) -> None:
        def nothing() -> Transaction[int]:
            yield from ()
            return 7

        assert await store.write(nothing) == 7
        assert await store.read(nothing) == 7

    async def test_a_read_sees_one_moment_while_others_write(self, store: Store, store_url: str) -> None:
        written: list[str] = []

        async def write_beside() -> None:
            other = open_store(store_url)
            written.append(await other.write(lambda: put(f"row-{len(written)}")))
            await other.close()

        def count_twice() -> Transaction[tuple[int, int]]:
            before = yield from count()
            in_a_thread(write_beside)
            return before, (yield from count())

        before, after = await store.read(count_twice)
        assert before == after
        assert await store.read(count) == len(written) > 0

    async def test_a_read_cannot_write(self, store: Store) -> None:
        with pytest.raises(Exception, match=r"(?i)read.?only"):
            await store.read(lambda: put("a"))
        assert await store.read(count) == 0

    async def test_a_reader_sees_what_was_acknowledged_before_it_asked(self, store: Store) -> None:
        for number in range(20):
            await store.write(lambda number=number: put(f"{number}"))  # type: ignore[misc]
            assert await store.read(count) == number + 1

    async def test_a_cancelled_write_happens_as_a_whole_or_not_at_all(self, store: Store) -> None:
        await store.open()
        for number in range(30):
            task = asyncio.create_task(store.write(lambda number=number: put(f"{number}a", f"{number}b")))  # type: ignore[misc]
            for _ in range(number % 6):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        await store.write(lambda: put("last", "one"))
        assert await store.read(count) % 2 == 0

    async def test_a_store_serves_several_event_loops_at_once(self, store: Store) -> None:
        done, closed = threading.Barrier(4), threading.Event()

        async def some(name: str) -> None:
            for number in range(10):
                await store.write(lambda number=number: put(f"{name}-{number}"))  # type: ignore[misc]
                await store.read(count)
            await asyncio.to_thread(done.wait, DEADLINE_SECONDS)

        async def elsewhere(name: str) -> None:
            await some(name)
            await asyncio.to_thread(closed.wait, DEADLINE_SECONDS)

        threads = [threading.Thread(target=asyncio.run, args=(elsewhere(name),)) for name in "abc"]
        for thread in threads:
            thread.start()
        await some("here")
        assert await store.read(count) == 40
        await store.close()
        closed.set()
        for thread in threads:
            thread.join(DEADLINE_SECONDS)

    async def test_closing_finishes_what_was_asked_before(self, store: Store, store_url: str) -> None:
        await store.open()
        asked = [asyncio.create_task(store.write(lambda n=n: put(f"{n}"))) for n in range(40)]  # type: ignore[misc]
        await asyncio.sleep(0)
        await store.close()
        assert sorted(await asyncio.gather(*asked)) == sorted(f"{n}" for n in range(40))
        again = open_store(store_url)
        assert await again.read(count) == 40
        await again.close()

    async def test_a_closed_store_says_so(self, store: Store) -> None:
        await store.write(lambda: put("a"))
        await store.close()
        await store.close()
        with pytest.raises(StoreUnavailable):
            await store.write(lambda: put("b"))
        with pytest.raises(StoreUnavailable):
            await store.read(count)

    async def test_transactions_that_lock_in_opposite_order_both_happen(self, store: Store) -> None:
        def lock(*streams: str) -> Transaction[str]:
            for stream in streams:
                yield from lock_head(WORKSPACE, stream, 0)
            return streams[0]

        for _ in range(3):
            both = (store.write(lambda: lock("a", "b")), store.write(lambda: lock("b", "a")))
            assert list(await asyncio.gather(*both)) == ["a", "b"]
