"""Several processes on one PostgreSQL: what tells their pages of a change, and migrations beside running calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import asyncpg
import pytest
from packages.core.tests.store.stores.test_migrations import LATEST, Release
from tests.support.stores.kit import NOON, append, put

from assent.engine.people import members
from assent.ports import Single, Store
from assent.sql.loader import statements
from assent.stores import open_store, postgres, postgres_schema
from assent.stores.migrate import migrate, schema_state
from assent.stores.postgres_connection import split_hosts

pytestmark = pytest.mark.own_database

WAITING = (
    "SELECT count(*) > 0 FROM pg_locks JOIN pg_database ON oid = database "
    "WHERE NOT granted AND datname = current_database()"
)
"""Whether a session of this database waits for a lock."""


async def until(ask: Callable[[], Awaitable[object]], what: str) -> None:
    """Wait until a condition holds."""
    for _ in range(1_000):
        if await ask():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"not within 10 s: {what}")


async def until_a_session_waits(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    await until(lambda: connection.fetchval(WAITING), "a session waits for a lock")


async def position(store: Store) -> str:
    return await store.read(members.journal_position)


async def until_position_moves(store: Store, before: str) -> str:
    async def has_moved() -> bool:
        return await position(store) != before

    await until(has_moved, "the position moves")
    return await position(store)


async def test_the_position_moves_for_every_process_after_an_append_alone(postgres_url: str) -> None:
    one, other = open_store(postgres_url), open_store(postgres_url)
    seen = [await position(other)]
    for number in range(3):
        await one.write(partial(append, "s", number))
        seen.append(await until_position_moves(other, seen[-1]))
    await one.close()
    seen.append(await position(other))
    await other.write(Single(statements.open_window(workspace_id="w", bucket="calls:")))
    await other.write(lambda: put("a row that is no event"))
    await other.close()
    third = open_store(postgres_url)
    assert await position(third) == seen[-1]
    assert len(set(seen[:4])) == 4
    await third.close()


async def test_many_appends_move_the_position_a_few_times_and_the_last_one_counts(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "BUMP_SECONDS", 0.2)
    store, other = open_store(postgres_url), open_store(postgres_url)
    connection = await asyncpg.connect(postgres_url)
    started = asyncio.get_running_loop().time()
    for burst in range(4):
        await asyncio.gather(*(store.write(partial(append, f"s{n}", burst)) for n in range(50)))
    before = await position(other)
    await store.write(lambda: append("last", 1))
    await store.close()
    assert await position(other) != before
    bumps = await connection.fetchval(
        "SELECT n_tup_upd + n_tup_ins FROM pg_stat_user_tables WHERE relname = 'deployment_facts'"
    )
    elapsed = asyncio.get_running_loop().time() - started
    assert bumps <= elapsed / 0.2 + 3
    await connection.close()
    await other.close()


async def test_a_migration_stops_neither_calls_nor_a_starting_process(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serving, holding = open_store(postgres_url), await asyncpg.connect(postgres_url)
    await serving.open()
    release = Release(tmp_path / "release", monkeypatch)
    release.add(LATEST + 1, "CREATE TABLE later (workspace_id TEXT); SELECT pg_advisory_xact_lock(4711);")
    await holding.execute("SELECT pg_advisory_lock(4711)")
    migrating = asyncio.create_task(migrate(postgres_url, NOON))
    await until_a_session_waits(holding)
    async with asyncio.timeout(5):
        await serving.write(lambda: append("s", 1))
        assert (await schema_state(postgres_url)).pending == (f"{LATEST + 1:04d}_test",)
    assert not migrating.done()
    await holding.execute("SELECT pg_advisory_unlock(4711)")
    assert (await migrating).to_version == LATEST + 1
    await holding.close()
    await serving.close()


async def test_a_migration_that_waits_for_a_table_lets_calls_pass(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_schema, "LOCK_SECONDS", 1)
    serving, reading = open_store(postgres_url), await asyncpg.connect(postgres_url)
    await serving.open()
    release = Release(tmp_path / "release", monkeypatch)
    release.add(LATEST + 1, "ALTER TABLE streams ADD COLUMN later TEXT;")
    slow_read = reading.transaction()
    await slow_read.start()
    await reading.execute("SELECT count(*) FROM streams")
    migrating = asyncio.create_task(migrate(postgres_url, NOON))
    watching = await asyncpg.connect(postgres_url)
    await until_a_session_waits(watching)
    async with asyncio.timeout(5):
        await serving.write(lambda: append("s", 1))
    assert not migrating.done()
    await slow_read.commit()
    assert (await migrating).to_version == LATEST + 1
    for each in (reading, watching):
        await each.close()
    await serving.close()


def test_an_address_is_split_by_host() -> None:
    given = "postgresql://u:p%40w@[::1]:5433,db2.example:5434/assent?target_session_attrs=read-write"
    assert split_hosts(given) == [
        "postgresql://u:p%40w@[::1]:5433/assent?target_session_attrs=read-write",
        "postgresql://u:p%40w@db2.example:5434/assent?target_session_attrs=read-write",
    ]
    assert split_hosts("postgresql:///assent?host=/run/a,/run/b") == [
        "postgresql:///assent?host=/run/a,/run/b"
    ]
