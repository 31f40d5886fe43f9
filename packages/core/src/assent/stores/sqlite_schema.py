"""Migrate a SQLite file after a backup. The caller holds the turnstile.

Each migration is one transaction. Foreign keys are off during it, so that a table can be rebuilt,
and are checked before the commit. Components follow the server's own migrations; one that fails
stops no other.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from assent.ports import SchemaMismatch
from assent.sql.components import AppliedMigration, Component, explain_failure, list_upgraded, pending_of
from assent.sql.schema import Migration, MigrationReport, file_name, migrations, pending

VERSIONS_TABLE = (
    "CREATE TABLE schema_versions (version INTEGER PRIMARY KEY, name TEXT NOT NULL, "
    "applied_at INTEGER NOT NULL, digest TEXT NOT NULL) STRICT"
)

OF_STATEMENT: Final = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH})
"""Primary result codes that mean a failure of the statement, not of the environment."""


def read_versions(connection: sqlite3.Connection, path: Path) -> dict[int, str]:
    """Return the applied migrations as version → digest; empty for an empty file."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if "schema_versions" in tables:
        return {row[0]: row[1] for row in connection.execute("SELECT version, digest FROM schema_versions")}
    if tables:
        raise SchemaMismatch(f"{path} is a database of another program. Name a new file in the database URL.")
    return {}


def read_component_versions(connection: sqlite3.Connection) -> list[AppliedMigration]:
    """Return the applied migrations of all components."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'component_versions'").fetchall():
        return []
    rows = connection.execute("SELECT component, version, prefix, digest FROM component_versions")
    return [AppliedMigration(*row) for row in rows]


def bring_up_to_date(
    connection: sqlite3.Connection, path: Path, now_ms: int, components: Sequence[Component] = ()
) -> MigrationReport:
    """Apply the missing migrations. Foreign keys must be off on the connection."""
    applied = read_versions(connection, path)
    before = max(applied, default=0)
    waiting = pending(migrations("sqlite"), applied, str(path))
    changes = waiting or list_upgraded(components, "sqlite", read_component_versions(connection), str(path))
    backup = back_up(connection, path, before, now_ms) if changes and applied else None
    done = []
    for migration in waiting:
        _apply(connection, migration, now_ms)
        done.append(file_name(migration))
    failures = []
    for component in components:
        try:
            for name in _apply_component(connection, component, path, now_ms):
                done.append(name)
        except (SchemaMismatch, sqlite3.Error) as error:
            if isinstance(error, sqlite3.Error) and error.sqlite_errorcode & 0xFF not in OF_STATEMENT:
                raise
            failures.append(explain_failure(component, error))
    return MigrationReport(
        from_version=before,
        to_version=max([before, *(migration.version for migration in waiting)]),
        applied=tuple(done),
        backup_path=str(backup) if backup else None,
        failures=tuple(failures),
    )


def _apply_component(
    connection: sqlite3.Connection, component: Component, path: Path, now_ms: int
) -> Iterator[str]:
    """Apply the missing migrations of a component and yield their names."""
    applied = read_component_versions(connection)
    for migration in pending_of(component, "sqlite", applied, str(path)):
        _apply(connection, migration, now_ms, component)
        yield component.name_file(migration)


def back_up(connection: sqlite3.Connection, path: Path, version: int, now_ms: int) -> Path:
    """Write a consistent copy beside the file, named by version and time. Returns its path. It is
    complete or absent."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now_ms / 1000))
    target = path.with_name(f"{path.name}.v{version:04d}-{stamp}.backup")
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    file = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        connection.execute("VACUUM INTO ?", (str(partial),))
        os.fsync(file)
    finally:
        os.close(file)
    partial.replace(target)
    return target


def _apply(
    connection: sqlite3.Connection, migration: Migration, now_ms: int, component: Component | None = None
) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if migration.version == 1 and component is None:
            connection.execute(VERSIONS_TABLE)
        for statement in _split(migration.sql):
            connection.execute(statement)
        broken = connection.execute("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise SchemaMismatch(
                f"{file_name(migration)} leaves {len(broken)} rows without what they refer to."
            )
        values = (migration.version, migration.name, now_ms, migration.digest)
        if component is None:
            connection.execute(
                "INSERT INTO schema_versions (version, name, applied_at, digest) VALUES (?, ?, ?, ?)", values
            )
        else:
            connection.execute(
                "INSERT INTO component_versions (component, prefix, version, name, applied_at, digest) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (component.name, component.prefix, *values),
            )
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _split(sql: str) -> Iterator[str]:
    """Split a script into statements, because `executescript` commits before it starts."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
