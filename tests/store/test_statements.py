"""Every named statement is understood by the database it is for."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from assent.gate.records import Action
from assent.ports import Statement
from assent.sql.components import check_component, list_core_tables, list_tables
from assent.sql.loader import NOT_HERE, SKIPPED, load
from assent.stores.migrate import migrate
from assent.stores.sqlite_connection import register_functions
from assent_launch.component import COMPONENT

CORE = load()
LAUNCH = load(COMPONENT.folder / "statements", COMPONENT.name)
STATEMENTS = CORE | LAUNCH
LAUNCH_TABLES = {
    table
    for migration in COMPONENT.migrations("sqlite")
    for table in re.findall(r"CREATE (?:VIRTUAL )?TABLE (\w+)", migration.sql)
} | {"launch_brain_words_docsize"}
"""The tables of assent-launch. The last is a part of SQLite's index of words."""
TABLES = list_core_tables() | LAUNCH_TABLES
FIELDS = tuple(name for name in Action.__struct_fields__ if name != "view")
"""The fields that are read by position. The column of the view was added later."""
READ_BY_POSITION = [
    statement
    for statement in STATEMENTS.values()
    if statement.name == "lock_action" or "SELECT a.*" in statement.sqlite
]


def test_sqlite_understands_every_statement(tmp_path: Path) -> None:
    asyncio.run(migrate(f"sqlite:///{tmp_path}/store.db", 0, (COMPONENT,)))
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        register_functions(connection)
        for statement in STATEMENTS.values():
            if statement.sqlite not in (NOT_HERE, SKIPPED):
                connection.execute(f"EXPLAIN {statement.sqlite}", (None,) * len(statement.params))
        for statement in READ_BY_POSITION:
            asked = connection.execute(statement.sqlite, (0,) * len(statement.params))
            assert tuple(column[0] for column in asked.description)[: len(FIELDS)] == FIELDS


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


def texts_of(statements: dict[str, Statement]) -> list[tuple[str, str]]:
    return [
        (each.name, text)
        for each in statements.values()
        for text in (each.sqlite, each.postgres)
        if text not in (NOT_HERE, SKIPPED)
    ]


def test_core_statements_touch_no_table_of_a_component() -> None:
    joined = {name: odd for name, text in texts_of(CORE) if (odd := list_tables(text) - list_core_tables())}
    assert joined == {}


def test_statements_of_launch_touch_its_own_tables_only() -> None:
    check_component(COMPONENT)
    assert {table for _, text in texts_of(LAUNCH) for table in list_tables(text)} == LAUNCH_TABLES
    assert not CORE.keys() & LAUNCH.keys()


def test_the_tables_found_in_a_statement_are_those_that_sqlite_reads_and_writes(tmp_path: Path) -> None:
    asyncio.run(migrate(f"sqlite:///{tmp_path}/store.db", 0, (COMPONENT,)))
    touched: set[str | None] = set()
    triggers: set[str | None] = set()

    def notice(action: int, table: str | None, _: str | None, schema: str | None, trigger: str | None) -> int:
        if trigger not in triggers and action in (
            sqlite3.SQLITE_READ,
            sqlite3.SQLITE_INSERT,
            sqlite3.SQLITE_UPDATE,
            sqlite3.SQLITE_DELETE,
        ):
            touched.add(table)
        return sqlite3.SQLITE_OK

    wrong = {}
    with closing(sqlite3.connect(tmp_path / "store.db", cached_statements=0)) as connection:
        register_functions(connection)
        triggers |= {
            row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        }
        connection.set_authorizer(notice)
        for statement in STATEMENTS.values():
            if statement.sqlite not in (NOT_HERE, SKIPPED):
                touched.clear()
                connection.execute(f"EXPLAIN {statement.sqlite}", (None,) * len(statement.params))
                known = touched & TABLES
                if known != list_tables(statement.sqlite):
                    wrong[statement.name] = (known, list_tables(statement.sqlite))
    assert wrong == {}
