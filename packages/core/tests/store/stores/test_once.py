"""Idempotency records over both stores."""

from __future__ import annotations

import asyncio
from itertools import count as counter

import pytest
from tests.support.stores.kit import NOON, WORKSPACE, append, marks

from assent.engine.actions import idempotency as once
from assent.kernel.limits import IDEMPOTENCY_TTL_MS
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Store, Transaction

numbers = counter()


def do_once(key: str, digest: str = "d", *, tool: str = "tool", now_ms: int = NOON) -> Transaction[str]:
    """What a writing tool does: recall, effect, remember, in one transaction."""
    answer = yield from once.recall(WORKSPACE, tool, key, digest, now_ms, holder="key")
    if answer is not None:
        return answer
    fresh = f'{{"answer": {next(numbers)}}}'
    yield from append("effects", fresh)
    yield from once.remember(WORKSPACE, tool, key, digest, fresh, now_ms, holder="key")
    return fresh


async def reason_of(store: Store, key: str, digest: str) -> Reason:
    with pytest.raises(Refusal) as caught:
        await store.write(lambda: do_once(key, digest))
    return caught.value.reason


class TestOnce:
    @pytest.mark.rule("E7")
    async def test_the_same_key_gives_the_same_answer_and_no_second_effect(self, store: Store) -> None:
        first = await store.write(lambda: do_once("k"))
        assert await store.write(lambda: do_once("k")) == first
        assert await marks(store, "effects") == [first]

    async def test_an_attempt_pins_its_arguments_before_its_answer_is_known(self, store: Store) -> None:
        assert await store.write(lambda: once.recall(WORKSPACE, "tool", "k", "d", NOON, holder="key")) is None
        assert await reason_of(store, "k", "other") is Reason.IDEMPOTENCY_CONFLICT
        assert await store.write(lambda: once.recall(WORKSPACE, "tool", "k", "d", NOON, holder="key")) is None
        await store.write(lambda: once.remember(WORKSPACE, "tool", "k", "d", "answer", NOON, holder="key"))
        assert (
            await store.write(lambda: once.recall(WORKSPACE, "tool", "k", "d", NOON, holder="key"))
            == "answer"
        )

    async def test_the_first_answer_stays(self, store: Store) -> None:
        first = await store.write(lambda: do_once("k"))
        await store.write(lambda: once.remember(WORKSPACE, "tool", "k", "d", "late", NOON, holder="key"))
        assert await store.write(lambda: do_once("k")) == first

    @pytest.mark.rule("E7")
    async def test_racing_callers_with_one_key_get_one_answer(self, store: Store) -> None:
        answers = await asyncio.gather(*(store.write(lambda: do_once("k")) for _ in range(30)))
        assert await marks(store, "effects") == [answers[0]]
        assert set(answers) == {answers[0]}

    async def test_racing_callers_with_one_key_and_different_arguments_have_one_effect(
        self, store: Store
    ) -> None:
        outcomes = await asyncio.gather(
            *(store.write(lambda n=n: do_once("k", f"d{n}")) for n in range(20)),  # type: ignore[misc]
            return_exceptions=True,
        )
        assert len(await marks(store, "effects")) == 1
        assert sum(isinstance(outcome, Refusal) for outcome in outcomes) == 19

    async def test_an_answer_is_kept_for_its_whole_time_and_not_longer(self, store: Store) -> None:
        first = await store.write(lambda: do_once("k"))
        end = NOON + IDEMPOTENCY_TTL_MS
        assert await store.write(lambda: do_once("k", now_ms=end - 1)) == first
        second = await store.write(lambda: do_once("k", "other", now_ms=end))
        assert second != first
        assert await store.write(lambda: do_once("k", "other", now_ms=end + 1)) == second

    async def test_what_is_past_its_time_goes_in_batches_and_nothing_else_does(self, store: Store) -> None:
        for key in ("a", "b", "c"):
            await store.write(lambda key=key: do_once(key))  # type: ignore[misc]
        late = NOON + IDEMPOTENCY_TTL_MS
        fresh = await store.write(lambda: do_once("fresh", now_ms=late))
        removed = [await store.write(lambda: once.forget_expired(late, 2)) for _ in range(3)]
        assert removed == [2, 1, 0]
        assert await store.write(lambda: do_once("fresh", now_ms=late)) == fresh
