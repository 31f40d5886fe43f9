"""The tables of the core and of every extension are the same on both stores, and can be sharded.

Not compared is what each store has for its own way to search text (a virtual table and the numbers it goes by, a
column of words), and the table in which PostgreSQL counts calls, which beside SQLite are counted in memory.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.sqlite_files import list_components

from assent.stores.migrate import migrate

NUMBERED = ("launch_brain_entries", "search_texts")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    asyncio.run(migrate(f"sqlite:///{tmp_path}/shape.db", 0, list_components()))
    with closing(sqlite3.connect(tmp_path / "shape.db")) as connection:
        yield connection


def test_every_table_is_the_same_on_both_stores(connection: sqlite3.Connection, postgres_url: str) -> None:
    ours = {name: columns_of(connection, name) for name in tables_of(connection)}
    for name in NUMBERED:
        ours[name].remove("number")
    theirs = asyncio.run(postgres_tables(postgres_url))
    del theirs["rate_windows"]
    assert theirs == ours


def test_the_workspace_comes_first_in_every_primary_key(connection: sqlite3.Connection) -> None:
    late = [
        name
        for name in tables_of(connection)
        if name not in NUMBERED
        and "workspace_id" in columns_of(connection, name)
        and first_of_key(connection, name) != "workspace_id"
    ]
    assert late == []


def tables_of(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    return [name for (name,) in rows if not name.startswith("sqlite_")]


def columns_of(connection: sqlite3.Connection, table: str) -> list[str]:
    return sorted(row[1] for row in connection.execute(f"PRAGMA table_xinfo({table})"))


def first_of_key(connection: sqlite3.Connection, table: str) -> str:
    keys: list[str] = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5] == 1]
    return keys[0]


async def postgres_tables(url: str) -> dict[str, list[str]]:
    import asyncpg

    connection = await asyncpg.connect(url)
    rows = await connection.fetch(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() "
        "AND data_type <> 'tsvector'"
    )
    await connection.close()
    tables: dict[str, list[str]] = {}
    for table, column in rows:
        tables.setdefault(table, []).append(column)
    return {table: sorted(columns) for table, columns in tables.items()}
