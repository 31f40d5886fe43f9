"""Schema version and migration of either store, for `assent migrate` and `assent doctor`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from assent.ports import StoreUnavailable
from assent.sql.schema import MigrationReport, SchemaState, migrations, state
from assent.stores import POSTGRES, sqlite_path

TURN_SECONDS: Final = 120.0
"""How long to wait for the turnstile. Another process may be backing up a large file."""


async def migrate(url: str, now_ms: int) -> MigrationReport:
    """Migrate the database. Other processes may use it."""
    if not url.startswith(POSTGRES):
        return await asyncio.to_thread(_migrate_sqlite, sqlite_path(url).absolute(), now_ms)
    from assent.stores import postgres_schema
    from assent.stores.postgres import connect

    async with connect(url) as connection:
        return await postgres_schema.bring_up_to_date(connection, now_ms)


async def schema_state(url: str) -> SchemaState:
    """Return the schema version of the database without changing it."""
    if not url.startswith(POSTGRES):
        return await asyncio.to_thread(_sqlite_state, sqlite_path(url).absolute())
    from assent.stores import postgres_schema
    from assent.stores.postgres import connect

    async with connect(url) as connection:
        applied = await postgres_schema.read_versions(connection)
        return state(migrations("postgres"), applied, postgres_schema.WHERE)


def _migrate_sqlite(path: Path, now_ms: int) -> MigrationReport:
    from assent.stores.sqlite_connection import migrate_file, translate
    from assent.stores.sqlite_transactions import Turnstile

    turnstile = Turnstile(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not turnstile.acquire(TURN_SECONDS):
            raise StoreUnavailable(f"sqlite: another process has held {path} for {TURN_SECONDS:.0f} s")
        return migrate_file(path, now_ms)
    except Exception as error:
        raise translate(error)
    finally:
        turnstile.close()


def _sqlite_state(path: Path) -> SchemaState:
    from assent.stores.sqlite_connection import connect_reader, translate
    from assent.stores.sqlite_schema import read_versions

    known = migrations("sqlite")
    if not path.exists():
        return state(known, {}, str(path))
    try:
        connection = connect_reader(path)
        try:
            return state(known, read_versions(connection, path), str(path))
        finally:
            connection.close()
    except Exception as error:
        raise translate(error)
