"""A pooler in transaction mode gives each transaction another connection of the database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from packages.core.tests.store.stores.test_migrations import LATEST
from tests.support.stores.kit import append, count, marks
from tests.support.stores.pooler import pooled

from assent.ports import Single, StoreUnavailable
from assent.sql.loader import statements
from assent.stores import open_store
from assent.stores.migrate import migrate


@pytest.fixture
def through_pooler(postgres_url: str) -> Iterator[str]:
    with pooled(postgres_url) as url:
        yield url


async def test_processes_behind_a_pooler_write_and_read_at_once(through_pooler: str) -> None:
    stores = [open_store(through_pooler, pool_size=6) for _ in range(2)]
    writes = [store.write(lambda n=n: append("s", n)) for store in stores for n in range(30)]  # type: ignore[misc]
    single = [
        store.write(Single(statements.set_deployment_fact(workspace_id="w", name=f"{n}", value="x")))
        for n, store in enumerate(stores * 20)
    ]
    reads = [store.read(count) for store in stores * 40]
    await asyncio.gather(*writes, *single, *reads)
    assert sorted(await marks(stores[0], "s")) == sorted([*range(30)] * 2)
    assert await stores[1].read(count) == 1
    facts = [await stores[1].read(Single(statements.list_deployment_facts(pattern="%")))]
    assert sum(row["value"] == "x" for row in facts[0]) == 40
    for store in stores:
        await store.close()


async def test_a_pooler_that_forgets_statements_is_named_with_the_cure(through_pooler: str) -> None:
    store = open_store(through_pooler, statement_cache="on")
    with pytest.raises(StoreUnavailable, match="ASSENT_STATEMENT_CACHE"):
        await store.open()
    await store.close()


async def test_a_pooler_in_session_mode_may_keep_statements(postgres_url: str) -> None:
    with pooled(postgres_url, mode="session") as url:
        store = open_store(url, statement_cache="on", pool_size=2)
        await asyncio.gather(*(store.write(lambda n=n: append("s", n)) for n in range(20)))  # type: ignore[misc]
        assert sorted(await marks(store, "s")) == list(range(20))
        await store.close()


async def test_an_empty_database_is_migrated_through_a_pooler(empty_postgres_url: str) -> None:
    with pooled(empty_postgres_url) as url:
        reports = await asyncio.gather(*(migrate(url, 0) for _ in range(3)))
    assert sorted(report.from_version for report in reports)[0] == 0
    assert {report.to_version for report in reports} == {LATEST}
