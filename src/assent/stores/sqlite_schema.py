"""Migrate a SQLite file after a backup. The caller holds the turnstile.

Each migration is one transaction. Foreign keys are off during it, so that a table can be rebuilt,
and are checked before the commit.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from assent.ports import SchemaMismatch
from assent.sql.schema import Migration, MigrationReport, file_name, migrations, pending

VERSIONS_TABLE = (
    "CREATE TABLE schema_versions (version INTEGER PRIMARY KEY, name TEXT NOT NULL, "
    "applied_at INTEGER NOT NULL, digest TEXT NOT NULL) STRICT"
)


def read_versions(connection: sqlite3.Connection, path: Path) -> dict[int, str]:
    """Return the applied migrations as version → digest; empty for an empty file."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if "schema_versions" in tables:
        return {row[0]: row[1] for row in connection.execute("SELECT version, digest FROM schema_versions")}
    if tables:
        raise SchemaMismatch(f"{path} is a database of another program. Name a new file in the database URL.")
    return {}


def bring_up_to_date(connection: sqlite3.Connection, path: Path, now_ms: int) -> MigrationReport:
    """Apply the missing migrations. Foreign keys must be off on the connection."""
    applied = read_versions(connection, path)
    before = max(applied, default=0)
    waiting = pending(migrations("sqlite"), applied, str(path))
    backup = back_up(connection, path, before, now_ms) if waiting and applied else None
    for migration in waiting:
        _apply(connection, migration, now_ms)
    return MigrationReport(
        from_version=before,
        to_version=max([before, *(migration.version for migration in waiting)]),
        applied=tuple(map(file_name, waiting)),
        backup_path=str(backup) if backup else None,
    )


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


def _apply(connection: sqlite3.Connection, migration: Migration, now_ms: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if migration.version == 1:
            connection.execute(VERSIONS_TABLE)
        for statement in _split(migration.sql):
            connection.execute(statement)
        broken = connection.execute("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise SchemaMismatch(
                f"{file_name(migration)} leaves {len(broken)} rows without what they refer to."
            )
        connection.execute(
            "INSERT INTO schema_versions (version, name, applied_at, digest) VALUES (?, ?, ?, ?)",
            (migration.version, migration.name, now_ms, migration.digest),
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
