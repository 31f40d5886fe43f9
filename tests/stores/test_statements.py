"""Every named statement is understood by the database it is for."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from assent.gate.records import Action
from assent.sql.loader import NOT_HERE, SKIPPED, load
from assent.stores.migrate import migrate
from assent.stores.sqlite_connection import register_functions

STATEMENTS = load()
FIELDS = Action.__struct_fields__
READ_BY_POSITION = [
    statement
    for statement in STATEMENTS.values()
    if statement.name == "lock_action" or "SELECT a.*" in statement.sqlite
]


def test_sqlite_understands_every_statement(tmp_path: Path) -> None:
    asyncio.run(migrate(f"sqlite:///{tmp_path}/store.db", 0))
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        register_functions(connection)
        for statement in STATEMENTS.values():
            if statement.sqlite not in (NOT_HERE, SKIPPED):
                connection.execute(f"EXPLAIN {statement.sqlite}", (None,) * len(statement.params))
        for statement in READ_BY_POSITION:
            asked = connection.execute(statement.sqlite, (0,) * len(statement.params))
            assert tuple(column[0] for column in asked.description)[: len(FIELDS)] == FIELDS


@pytest.mark.anyio
async def test_postgresql_understands_every_statement(postgres_url: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(postgres_url)
    for statement in STATEMENTS.values():
        if statement.postgres not in (NOT_HERE, SKIPPED):
            prepared = await connection.prepare(statement.postgres)
            assert len(prepared.get_parameters()) == len(statement.params)
    for statement in READ_BY_POSITION:
        prepared = await connection.prepare(statement.postgres)
        assert tuple(column.name for column in prepared.get_attributes())[: len(FIELDS)] == FIELDS
    await connection.close()
