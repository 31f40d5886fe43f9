"""The journal over both stores: order, races, and what a forger cannot hide."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.support.stores.kit import NOON, SQL, WORKSPACE, append, children, marks, whole_stream

from assent.engine.core import journal
from assent.engine.core.journal import GENESIS, ChainBreak, ChainFlaw, Event, Head, NewEvent
from assent.ports import Bound, Store, Transaction
from assent.sql.loader import SKIPPED
from assent.stores import open_store


class TestJournal:
    async def test_events_come_back_in_order_and_as_they_were(self, store: Store) -> None:
        first = await store.write(lambda: append("s", {"b": 1, "a": "ü\u0000"}, [1, None, 2.5]))
        second = await store.write(lambda: append("s", "third"))
        head, events = await store.read(lambda: whole_stream("s"))
        assert (first.seq, second.seq, head) == (2, 3, second)
        assert [json.loads(event.body) for event in events] == [
            {"a": "ü\u0000", "b": 1},
            [1, None, 2.5],
            "third",
        ]
        assert [(event.seq, event.kind, event.at_ms) for event in events] == [
            (1, "noted", NOON),
            (2, "noted", NOON),
            (3, "noted", NOON),
        ]
        assert journal.verify_chain(events, head) is None

    async def test_a_stream_is_read_in_pages_and_verified_from_where_it_was_left(self, store: Store) -> None:
        await store.write(lambda: append("s", *range(10)))
        head, events = await store.read(lambda: whole_stream("s"))
        page = await store.read(lambda: journal.read_stream(WORKSPACE, "s", after_seq=4, limit=3))
        assert page == events[4:7]
        left = Head(WORKSPACE, "s", 4, events[3].hash)
        assert journal.verify_chain(events[4:], head, start=left) is None

    async def test_a_stream_nobody_wrote_has_no_events(self, store: Store) -> None:
        head, events = await store.read(lambda: whole_stream("nobody"))
        assert (head, events) == (Head(WORKSPACE, "nobody", 0, GENESIS), [])
        assert journal.verify_chain(events, head) is None

    async def test_streams_of_the_same_name_in_two_workspaces_are_two(self, store: Store) -> None:
        for workspace in ("w1", "w2"):
            note = [NewEvent("noted", workspace)]
            await store.write(lambda w=workspace, n=note: journal.append(w, "s", n, NOON))  # type: ignore[misc]
        first, second = [
            await store.read(lambda w=w: journal.read_stream(w, "s"))  # type: ignore[misc]
            for w in ("w1", "w2")
        ]
        assert [len(first), len(second)] == [1, 1]
        assert first[0].hash != second[0].hash

    async def test_state_read_under_the_lock_is_still_true_at_the_append(self, store: Store) -> None:
        """A counter kept in the events themselves: every append says what it read before."""

        def count_up() -> Transaction[int]:
            head = yield from journal.lock_head(WORKSPACE, "s", NOON)
            events = yield from journal.read_stream(WORKSPACE, "s", after_seq=head.seq - 1)
            value = json.loads(events[0].body) + 1 if events else 1
            yield from journal.append_to(head, [NewEvent("counted", value)], NOON)
            return int(value)

        values = await asyncio.gather(*(store.write(count_up) for _ in range(40)))
        assert sorted(values) == list(range(1, 41))
        assert await marks(store, "s") == list(range(1, 41))

    async def test_an_append_with_a_head_that_was_not_locked_changes_nothing(self, store: Store) -> None:
        stale = await store.write(lambda: append("s", 1))
        await store.write(lambda: append("s", 2))
        with pytest.raises(RuntimeError):
            await store.write(lambda: journal.append_to(stale, [NewEvent("noted", "late")], NOON))
        forged = Head(WORKSPACE, "s", 7, GENESIS)
        with pytest.raises(RuntimeError):
            await store.write(lambda: journal.append_to(forged, [NewEvent("noted", "ahead")], NOON))
        assert await marks(store, "s") == [1, 2]

    async def test_twenty_tasks_on_one_stream_lose_nothing(self, store: Store) -> None:
        async def caller(name: int) -> None:
            for step in range(10):
                await store.write(lambda step=step: append("s", [name, step]))  # type: ignore[misc]

        await asyncio.gather(*(caller(name) for name in range(20)))
        found = await marks(store, "s")
        assert sorted(found) == [[name, step] for name in range(20) for step in range(10)]
        for name in range(20):
            assert [step for who, step in found if who == name] == list(range(10))

    async def test_processes_on_one_stream_lose_nothing(self, store_url: str) -> None:
        with children(3, "append", store_url, "s", "80") as writers:
            for writer in writers:
                writer.go()
            said = [mark for writer in writers for mark in writer.rest()]
        store = open_store(store_url)
        found = await marks(store, "s")
        await store.close()
        assert len(said) == 240
        assert sorted(found) == sorted(said)


def test_an_append_of_one_event_asks_postgresql_three_times() -> None:
    asked: list[str] = []
    transaction = append("s", "only")
    bound: Bound = next(transaction)
    answers: list[list[Any]] = [[{"seq": 4, "hash": GENESIS, "updated_at": NOON}], [{"seq": 5}], [], []]
    with pytest.raises(StopIteration) as end:
        for rows in answers:
            if bound.statement.postgres != SKIPPED:
                asked.append(bound.statement.name)
            bound = transaction.send(rows)
    assert end.value.value.seq == 5
    assert asked == ["lock_head", "append_event", "write_event"]


class TestForgery:
    """Whoever touches a stream without knowing the chain is found."""

    async def forge(self, store: Store, name: str, **values: Any) -> ChainBreak | None:
        await store.write(lambda: append("s", "one", "two", "three"))

        def change() -> Transaction[None]:
            yield SQL[name](workspace_id=WORKSPACE, **values)

        await store.write(change)
        head, events = await store.read(lambda: whole_stream("s"))
        return journal.verify_chain(events, head)

    async def test_a_changed_body_is_found(self, store: Store) -> None:
        assert await self.forge(store, "alter_event", seq=2, body='"2"') == ChainBreak(2, ChainFlaw.ALTERED)

    async def test_a_missing_event_is_found(self, store: Store) -> None:
        assert await self.forge(store, "drop_event", seq=2) == ChainBreak(2, ChainFlaw.MISSING)

    async def test_a_missing_last_event_is_found(self, store: Store) -> None:
        assert await self.forge(store, "drop_event", seq=3) == ChainBreak(3, ChainFlaw.TRUNCATED)

    async def test_a_head_that_was_turned_back_is_found(self, store: Store) -> None:
        assert await self.forge(store, "alter_head", seq=2, hash=GENESIS) == ChainBreak(
            3, ChainFlaw.BEYOND_HEAD
        )

    async def test_a_head_with_another_hash_is_found(self, store: Store) -> None:
        assert await self.forge(store, "alter_head", seq=3, hash=GENESIS) == ChainBreak(
            3, ChainFlaw.HEAD_ALTERED
        )


@pytest.mark.parametrize("field", ["kind", "at_ms", "body", "hash"])
def test_no_field_of_an_event_can_change_unseen(field: str) -> None:
    genuine = {"kind": "noted", "at_ms": 5, "body": '"text"'}
    hashed = journal.link("w", "s", 1, "noted", 5, b'"text"', GENESIS)
    head = Head("w", "s", 1, hashed)
    changed = {"kind": "noted2", "at_ms": 6, "body": '"texts"', "hash": "f" * 64}[field]
    event = Event(seq=1, **{"hash": hashed, **genuine, field: changed})  # type: ignore[arg-type]
    assert journal.verify_chain([event], head) == ChainBreak(1, ChainFlaw.ALTERED)


def test_what_belongs_to_the_name_cannot_slip_into_the_body() -> None:
    one = journal.link("w", "s", 1, "a", 5, b'"b"', GENESIS)
    other = journal.link("w", "s", 1, 'a",5]\n"b', 5, b"", GENESIS)
    assert one != other
