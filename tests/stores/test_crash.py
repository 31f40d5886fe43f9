"""What was acknowledged is on disk, whoever is killed.

A child appends without end and says each mark after its write has returned; it, or the database server, is killed in
the middle. Every mark it said must be there, and the chain must hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.postgres_server import MISSING, Cluster, binaries
from tests.stores.kit import children, marks

from assent.stores import open_store

pytestmark = pytest.mark.anyio

ENOUGH = 200
"""Acknowledged writes before a kill: a run in which nothing was written proves nothing."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A server that syncs to disk as it does by default, to be killed."""
    if binaries() is None:
        pytest.skip(MISSING)
    running = Cluster()
    yield running
    running.delete()


@pytest.mark.parametrize("writers", [1, 2])
async def test_a_killed_process_loses_no_acknowledged_write(store_url: str, writers: int) -> None:
    said: list[str] = []
    with children(writers, "write-on", store_url, "s") as victims:
        for victim in victims:
            victim.go()
        for _ in range(ENOUGH // writers):
            said.extend(victim.line() for victim in victims)
        for victim in victims:
            victim.kill()
        for victim in victims:
            said.extend(victim.rest())
    store = open_store(store_url)
    found = await marks(store, "s")
    await store.close()
    assert len(said) >= ENOUGH
    assert set(said) <= set(found)
    assert len(found) == len(set(found))


async def test_a_survivor_goes_on_when_its_neighbour_is_killed(store_url: str) -> None:
    """The dead process's place in the queue is free at once."""
    with children(2, "write-on", store_url, "s") as (victim, survivor):
        victim.go()
        survivor.go()
        said = [victim.line() for _ in range(ENOUGH // 2)]
        victim.kill()
        said += victim.rest()
        said += [survivor.line() for _ in range(ENOUGH)]
        survivor.kill()
        said += survivor.rest()
    store = open_store(store_url)
    assert set(said) <= set(await marks(store, "s"))
    await store.close()


async def test_a_killed_postgresql_loses_no_acknowledged_write_and_is_found_again(cluster: Cluster) -> None:
    url = cluster.url
    with children(1, "write-on", url, "s") as (writer,):
        writer.go()
        said = [writer.line() for _ in range(ENOUGH)]
        cluster.kill()
        said += iter(writer.line, "down")
        before = len(said)
        cluster.start()
        writer.go()
        said += [writer.line() for _ in range(ENOUGH)]
        writer.kill()
        said += writer.rest()
    store = open_store(url)
    found = await marks(store, "s")
    await store.close()
    assert before >= ENOUGH
    assert set(said) <= set(found)
