"""Backups of a PostgreSQL database: every table by COPY, in one snapshot, in a zip archive.

The archive holds `NAME.copy` for each table of Assent and of its extensions, and `manifest.json`. The
tables themselves are made by the migrations of this release, so a backup needs no program of
PostgreSQL and no equal version of it.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, BinaryIO, Final, cast
from urllib.parse import quote

import msgspec

from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.structs import Record
from assent.sql.components import AppliedMigration, Component, pending_of
from assent.sql.schema import migrations, pending
from assent.stores.backup_files import BackupError, LoadedBackup
from assent.stores.postgres import connect
from assent.stores.postgres_schema import VERSIONS_TABLE, read_component_versions, read_versions, run_script

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
VERSIONS: Final = "schema_versions"
LOCK_SECONDS: Final = 10

TABLES: Final = (
    "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') ORDER BY c.relname"
)
COLUMNS: Final = (
    "SELECT a.attname FROM pg_catalog.pg_attribute a WHERE a.attrelid = CAST($1 AS regclass) AND a.attnum > 0 "
    "AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum"
)
REFERENCES: Final = (
    "SELECT r.relname AS of, f.relname AS to FROM pg_catalog.pg_constraint k "
    "JOIN pg_catalog.pg_class r ON r.oid = k.conrelid JOIN pg_catalog.pg_class f ON f.oid = k.confrelid "
    "JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace "
    "WHERE k.contype = 'f' AND n.nspname = current_schema() AND r.oid <> f.oid"
)
OTHERS: Final = (
    "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = current_database() "
    "AND application_name = 'assent' AND pid <> pg_backend_pid()"
)
SET_MARK: Final = (
    "INSERT INTO deployment_facts (workspace_id, name, value) VALUES ($1, 'backup', $2) "
    "ON CONFLICT (workspace_id, name) DO UPDATE SET value = excluded.value"
)


class CopiedTable(Record):
    """A table of a backup."""

    name: str
    columns: tuple[str, ...]
    rows: int


class Manifest(Record, kw_only=True):
    """The contents of a backup."""

    format: int
    mark: str
    versions: dict[int, str]
    components: tuple[AppliedMigration, ...]
    tables: tuple[CopiedTable, ...]


async def write(url: str, partial: Path, mark: str) -> None:
    """Write one snapshot of all tables into an archive and check it."""
    async with connect(url) as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        versions = await read_versions(connection)
        if not versions:
            raise BackupError("The database holds nothing yet. Start the server on it first.")
        recorded = await read_component_versions(connection)
        tables = []
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name in await _list_tables(connection, recorded):
                columns = tuple(row[0] for row in await connection.fetch(COLUMNS, f'"{name}"'))
                with archive.open(f"{name}.copy", "w", force_zip64=True) as member:
                    copied = await connection.copy_from_table(
                        name, output=cast(BinaryIO, member), columns=columns
                    )
                tables.append(CopiedTable(name, columns, _count(copied)))
            manifest = Manifest(
                format=FORMAT,
                mark=mark,
                versions=versions,
                components=tuple(recorded),
                tables=tuple(tables),
            )
            archive.writestr(MANIFEST, msgspec.json.encode(manifest))
    _read_manifest(partial)


def _read_manifest(source: Path) -> Manifest:
    """Check every byte of the archive and return its manifest."""
    try:
        with zipfile.ZipFile(source) as archive:
            damaged = archive.testzip()
            manifest = msgspec.json.decode(archive.read(MANIFEST), type=Manifest)
    except (zipfile.BadZipFile, KeyError, msgspec.MsgspecError, EOFError, OSError) as error:
        raise BackupError(
            f"{source} is no whole backup of a PostgreSQL database ({error}). Nothing was changed. Name a file that "
            "`assent backup` wrote on this kind of database; one of SQLite is restored there."
        ) from error
    if damaged is not None or manifest.format != FORMAT:
        raise BackupError(
            f"The backup {source} is damaged in {damaged or MANIFEST}. Nothing was changed. Take another."
        )
    return manifest


async def load(url: str, source: Path, schema: str, components: Sequence[Component]) -> LoadedBackup:
    """Load a backup into a new schema of the database, in one transaction."""
    manifest = _read_manifest(source)
    where = f"The backup {source}"
    pending(migrations("postgres"), manifest.versions, where)
    by_name = {each.name: each for each in components}
    for name in sorted({each.component for each in manifest.components}):
        if name not in by_name:
            raise BackupError(f"{where} has tables of the operator {name}. Install it, then restore again.")
        pending_of(by_name[name], "postgres", manifest.components, where)
    async with connect(_within(url, schema)) as connection, connection.transaction():
        await connection.execute(f'CREATE SCHEMA "{schema}"')
        await _create_tables(connection, manifest, by_name)
        tables = {table.name: table for table in manifest.tables}
        missing = tables.keys() - set(await _names(connection))
        if missing:
            raise BackupError(
                f"{where} has tables that this release does not know: {', '.join(sorted(missing))}."
            )
        await connection.execute(f"TRUNCATE {', '.join(_quote(name) for name in tables)}")
        with zipfile.ZipFile(source) as archive:
            for name in await _in_order(connection, tables):
                with archive.open(f"{name}.copy") as member:
                    copied = await connection.copy_to_table(
                        name, source=cast(BinaryIO, member), columns=tables[name].columns
                    )
                if _count(copied) != tables[name].rows:
                    raise BackupError(f"{where} lacks rows of {name}. Nothing was changed. Take another.")
        await connection.execute(SET_MARK, SYSTEM_WORKSPACE, manifest.mark)
    return LoadedBackup(_within(url, schema), schema)


async def _create_tables(connection: Any, manifest: Manifest, components: dict[str, Component]) -> None:
    """Create the tables as they were in the release that wrote the backup."""
    await connection.execute(VERSIONS_TABLE)
    for migration in migrations("postgres"):
        if migration.version in manifest.versions:
            await run_script(connection, migration.sql)
    for name in dict.fromkeys(each.component for each in manifest.components):
        applied = {each.version for each in manifest.components if each.component == name}
        for migration in components[name].migrations("postgres"):
            if migration.version in applied:
                await run_script(connection, migration.sql)


async def _names(connection: Any) -> list[str]:
    return [row[0] for row in await connection.fetch(TABLES)]


async def _list_tables(connection: Any, recorded: Sequence[AppliedMigration]) -> list[str]:
    """List the tables of Assent and its extensions. The schema may hold tables of other programs."""
    made = {
        name
        for migration in migrations("postgres")
        for name in re.findall(r"^CREATE TABLE (?:IF NOT EXISTS )?(\w+)", migration.sql, re.MULTILINE)
    }
    prefixes = tuple({each.prefix for each in recorded})
    return [
        name
        for name in await _names(connection)
        if name == VERSIONS or name in made or (prefixes and name.startswith(prefixes))
    ]


async def _in_order(connection: Any, tables: dict[str, CopiedTable]) -> list[str]:
    """Return the tables so that each follows those that it refers to."""
    graph: dict[str, set[str]] = {name: set() for name in tables}
    for row in await connection.fetch(REFERENCES):
        if row["of"] in graph and row["to"] in graph:
            graph[row["of"]].add(row["to"])
    return list(TopologicalSorter(graph).static_order())


async def drop(url: str, schema: str) -> None:
    """Remove a schema that was loaded and is not used."""
    async with connect(url) as connection:
        await connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')


async def refuse_others(url: str) -> None:
    """Raise `BackupError` while other processes of Assent use the database."""
    async with connect(url) as connection:
        await _refuse_others(connection)


async def _refuse_others(connection: Any) -> None:
    if others := await connection.fetchval(OTHERS):
        raise BackupError(
            f"Servers of Assent use this database ({others} connections), and they would go on with what they know of "
            "the replaced one. Nothing was changed. Stop every server and chat on it, then restore again."
        )


async def exchange(url: str, schema: str, aside: str) -> str | None:
    """Move the tables in use to another schema and the loaded ones to their place, in one transaction."""
    async with connect(url) as connection, connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
        home = await connection.fetchval("SELECT current_schema()")
        used = await _list_tables(connection, await read_component_versions(connection))
        if used:
            await connection.execute(f"LOCK TABLE {', '.join(map(_quote, used))} IN ACCESS EXCLUSIVE MODE")
            await _refuse_others(connection)
            await connection.execute(f'CREATE SCHEMA "{aside}"')
        for name in used:
            await connection.execute(f'ALTER TABLE {_quote(name)} SET SCHEMA "{aside}"')
        await connection.execute(f'SET LOCAL search_path TO "{schema}"')
        for name in await _names(connection):
            await connection.execute(f'ALTER TABLE {_quote(name)} SET SCHEMA "{home}"')
        await connection.execute(f'DROP SCHEMA "{schema}"')
        return aside if used else None


def _within(url: str, schema: str) -> str:
    """Return the URL of a schema of the database."""
    return f"{url}{'&' if '?' in url else '?'}search_path={quote(schema)}"


def _quote(name: str) -> str:
    return f'"{name}"'


def _count(status: str) -> int:
    """Return the number in the answer to a COPY."""
    return int(status.rpartition(" ")[2])
