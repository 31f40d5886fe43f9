"""A memory can be searched for as soon as it is kept, however the embedded store batches the index of its words."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.actions.fixtures import gate_over
from tests.support.actions.kit import Gate
from tests.support.actions.provider import providers
from tests.support.sqlite_files import new_sqlite

from assent.engine.core.tenancy import LOCAL_WORKSPACE as WORKSPACE
from assent.kernel.limits import SECOND_MS
from assent_launch.learning import memory as brain
from assent_launch.learning.memory import WORDS_BATCH, NewEntry

pytestmark = pytest.mark.own_database


async def keep(gate: Gate, number: int, body: str, tenant_id: str = "default") -> str | None:
    entry = NewEntry(
        tenant_id=tenant_id, kind="lesson", body=body, source="test", natural_key=f"{tenant_id}:{number}"
    )
    now_ms = gate.clock.now_ms() + number * SECOND_MS
    return await gate.app.store.write(lambda: brain.remember(WORKSPACE, entry, now_ms))


async def found(gate: Gate, query: str, tenant_id: str = "default") -> list[str]:
    entries = await gate.app.store.write(lambda: brain.search(WORKSPACE, tenant_id, query, most=1_000))
    return [entry.body for entry in entries]


async def test_every_memory_is_found_by_its_words_at_once(database_url: str, tmp_path: Path) -> None:
    gate = gate_over(database_url, tmp_path, "http", providers())
    try:
        for number in range(2 * WORDS_BATCH + 3):
            await keep(gate, number, f"Short posts of kind{number} work")
            if number % (WORDS_BATCH // 2 - 1) == 0:
                assert await found(gate, f"kind{number}") == [f"Short posts of kind{number} work"]
        assert len(await found(gate, "short WORK")) == 2 * WORDS_BATCH + 3
        assert await found(gate, "kind1 long") == []
        assert await found(gate, "?!") == []
    finally:
        await gate.close()


async def test_a_memory_kept_twice_is_found_once_and_by_its_tenant_alone(
    database_url: str, tmp_path: Path
) -> None:
    gate = gate_over(database_url, tmp_path, "http", providers())
    try:
        assert await keep(gate, 1, "Cafés answer in the morning", "north") is not None
        assert await keep(gate, 1, "Cafés answer in the evening", "north") is None
        assert await found(gate, "answer", "north") == ["Cafés answer in the morning"]
        assert await found(gate, "answer", "south") == []
    finally:
        await gate.close()


async def test_compacting_the_file_does_not_mix_up_whose_words_are_whose(tmp_path: Path) -> None:
    url = new_sqlite(tmp_path / "assent.db")
    for turn in range(2):
        gate = gate_over(url, tmp_path, "http", providers())
        try:
            for number in range(turn * 70, turn * 70 + 70):
                await keep(gate, number, f"Lesson of kind{number}")
            for number in (0, 69, turn * 70, turn * 70 + 69):
                assert await found(gate, f"kind{number}") == [f"Lesson of kind{number}"]
        finally:
            await gate.close()
        with closing(sqlite3.connect(tmp_path / "assent.db")) as connection:
            connection.execute("VACUUM")
