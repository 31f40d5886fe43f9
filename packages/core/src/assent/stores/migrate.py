"""Schema version and migration of either store, for `assent migrate` and `assent doctor`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from assent.ports import SchemaMismatch, StoreUnavailable
from assent.sql.components import Component, component_state
from assent.sql.schema import MigrationReport, SchemaState, migrations, state
from assent.stores import POSTGRES, sqlite_path

TURN_SECONDS: Final = 120.0
"""How long to wait for the turnstile. Another process may be backing up a large file."""


async def migrate(
    url: str, now_ms: int, components: Sequence[Component] = (), shards: int | None = None
) -> MigrationReport:
    """Migrate the database and the tables of the components; with a number of shards, spread them over the servers of a
    PostgreSQL database. Other processes may use it."""
    if not url.startswith(POSTGRES):
        if shards is not None:
            raise SchemaMismatch("A SQLite file cannot be spread over servers. Use PostgreSQL with Citus.")
        return await asyncio.to_thread(_migrate_sqlite, sqlite_path(url).absolute(), now_ms, components)
    from assent.stores import postgres_schema
    from assent.stores.postgres import connect

    async with connect(url) as connection:
        return await postgres_schema.bring_up_to_date(connection, now_ms, components, shards)


async def schema_state(url: str, components: Sequence[Component] = ()) -> SchemaState:
    """Return the schema version of the database without changing it."""
    if not url.startswith(POSTGRES):
        return await asyncio.to_thread(_sqlite_state, sqlite_path(url).absolute(), components)
    from assent.stores import postgres_schema
    from assent.stores.postgres import connect

    async with connect(url) as connection:
        applied = await postgres_schema.read_versions(connection)
        recorded = await postgres_schema.read_component_versions(connection)
        where = postgres_schema.WHERE
        found = tuple(component_state(each, "postgres", recorded, where) for each in components)
        return state(migrations("postgres"), applied, where, found)


def _migrate_sqlite(path: Path, now_ms: int, components: Sequence[Component]) -> MigrationReport:
    from assent.stores.sqlite_connection import migrate_file, translate
    from assent.stores.sqlite_transactions import Turnstile

    turnstile = Turnstile(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not turnstile.acquire(TURN_SECONDS):
            raise StoreUnavailable(f"sqlite: another process has held {path} for {TURN_SECONDS:.0f} s")
        return migrate_file(path, now_ms, components)
    except Exception as error:
        raise translate(error)
    finally:
        turnstile.close()


def _sqlite_state(path: Path, components: Sequence[Component]) -> SchemaState:
    from assent.stores.sqlite_connection import connect_reader, translate
    from assent.stores.sqlite_schema import read_component_versions, read_versions

    known = migrations("sqlite")
    if not path.exists():
        found = tuple(component_state(each, "sqlite", (), str(path)) for each in components)
        return state(known, {}, str(path), found)
    try:
        connection = connect_reader(path)
        try:
            applied, recorded = read_versions(connection, path), read_component_versions(connection)
            found = tuple(component_state(each, "sqlite", recorded, str(path)) for each in components)
            return state(known, applied, str(path), found)
        finally:
            connection.close()
    except Exception as error:
        raise translate(error)
