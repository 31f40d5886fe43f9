"""A primary that is killed and a standby that takes over, with real streaming replication: what a store notices."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from tests.support.effort import rounds
from tests.support.postgres_server import MISSING, binaries
from tests.support.processes.replication import Pair, replicated
from tests.support.stores.kit import append, marks

from assent.ports import Store, StoreUnavailable
from assent.stores import open_store

pytestmark = [pytest.mark.prove, pytest.mark.slow, pytest.mark.skipif(binaries() is None, reason=MISSING)]

FAILOVERS = rounds(2, 20)
WRITERS = 8
RECONNECT_SECONDS = 5.0


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with replicated(synchronous=True) as made:
        yield made


async def keep_writing(
    store: Store, writer: int, acknowledged: list[tuple[int, int]], over: asyncio.Event
) -> None:
    number = 0
    while not over.is_set():
        try:
            await store.write(partial(append, f"writer-{writer}", number))
        except StoreUnavailable:
            await asyncio.sleep(0.02)
            continue
        acknowledged.append((writer, number))
        number += 1


async def until_written(acknowledged: list[tuple[int, int]], count: int) -> None:
    for _ in range(2_000):
        if len(acknowledged) >= count:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("no write within 20 s")


async def test_no_acknowledged_write_is_lost_and_the_next_one_is_taken_within_seconds(
    pair: Pair, record_property: Callable[[str, object], None]
) -> None:
    prepared: list[float] = []

    async def prepare() -> None:
        prepared.append(time.monotonic())

    store = open_store(pair.url, prepare=prepare)
    await store.open()
    acknowledged: list[tuple[int, int]] = []
    over = asyncio.Event()
    writing = [asyncio.create_task(keep_writing(store, each, acknowledged, over)) for each in range(WRITERS)]
    slowest = 0.0
    try:
        for _ in range(FAILOVERS):
            await until_written(acknowledged, len(acknowledged) + 5 * WRITERS)
            times = len(prepared)
            await asyncio.to_thread(pair.fail_over)
            since = time.monotonic()
            await until_written(acknowledged, len(acknowledged) + 1)
            slowest = max(slowest, time.monotonic() - since)
            assert len(prepared) > times, "the store was not prepared for the promoted server"
            await asyncio.to_thread(pair.rejoin)
    finally:
        over.set()
        await asyncio.gather(*writing)
    for writer in range(WRITERS):
        kept = await marks(store, f"writer-{writer}")
        wanted = [number for each, number in acknowledged if each == writer]
        assert set(wanted) <= set(kept), f"lost: {sorted(set(wanted) - set(kept))[:5]}"
    assert slowest < RECONNECT_SECONDS
    await store.close()
    record_property("failovers", FAILOVERS)


async def test_a_replaced_primary_that_comes_back_is_not_used_again(pair: Pair) -> None:
    store = open_store(pair.url)
    await store.write(lambda: append("before", 1))
    replaced, promoted = pair.primary, pair.standby
    pair.fail_over()
    await until_taken(store, "after", 1)
    replaced.write_settings("")  # or it would wait for its standby
    replaced.start()
    promoted.kill()
    for _ in range(3):
        with pytest.raises(StoreUnavailable, match="replaced"):
            await store.write(lambda: append("after", 2))
    replaced.stop("immediate")
    promoted.start()
    await until_taken(store, "after", 3)
    assert await marks(store, "after") == [1, 3]
    await store.close()
    await asyncio.to_thread(pair.rejoin)


async def until_taken(store: Store, stream: str, number: int) -> None:
    async with asyncio.timeout(20):
        while True:
            try:
                await store.write(lambda: append(stream, number))
                return
            except StoreUnavailable:
                await asyncio.sleep(0.02)
