"""Connections to a SQLite file: durability settings, translation of errors."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import astuple

from assent.ports import Bound, Clock, ConstraintViolation, Rows, StoreUnavailable, UniqueViolation
from assent.sql.components import Component, ListComponents
from assent.sql.schema import MigrationReport
from assent.stores.sqlite_schema import bring_up_to_date

log = logging.getLogger("assent.stores")

BUSY_SECONDS: Final = 5.0
"""Busy timeout, for writers that do not take the turnstile, such as a shell on the same file."""

CACHED_STATEMENTS: Final = 512
"""More than all named statements, so that each is prepared once per connection."""

CHECKPOINT_PAGES: Final = 4_000
"""WAL pages before a checkpoint. A page that changed several times in between is written once, and
one block of the WAL index still covers all of them, so readers stay fast."""

PATIENCE_MS: Final = 50
"""How long a truncating checkpoint waits for readers. Writers wait too."""

WORLD: Final = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_NOLFS,
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_NOTADB,
    }
)
"""Primary result codes that mean a failure of the environment, not of the statement."""

OUT_OF_SPACE: Final = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
UNIQUE: Final = frozenset(
    {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID}
)


class Broken(StoreUnavailable):
    """The environment failed; the connection must not be used again."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Replaced(StoreUnavailable):
    """The file was replaced while it was in use. Nothing was written; the store must be prepared again."""


def translate(error: BaseException) -> BaseException:
    """Translate an error of driver or system. Any other is a bug and returned unchanged."""
    if isinstance(error, sqlite3.Error):
        code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
        if code in UNIQUE:
            return UniqueViolation(str(error))
        if code & 0xFF == sqlite3.SQLITE_CONSTRAINT:
            return ConstraintViolation(str(error))
        if code & 0xFF in WORLD:
            return Broken(f"sqlite: {error} ({error.sqlite_errorname})", code & 0xFF)
    elif isinstance(error, OSError):
        failure = StoreUnavailable(f"sqlite: {error}")
        failure.__cause__ = error  # it names the file
        return failure
    return error


def fetch_again(done: sqlite3.Cursor, bound: Bound) -> Rows:
    """Read the rows of a query of which a text is not UTF-8, with surrogates in place of its wrong bytes. The
    driver refuses all rows for the sake of that one."""
    connection = done.connection
    done.close()  # an unfinished statement would keep its snapshot
    connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
    try:
        return connection.execute(bound.statement.sqlite, astuple(bound)).fetchall()
    finally:
        connection.text_factory = str


def empty_log(connection: sqlite3.Connection) -> bool:
    """Run a truncating checkpoint. Returns False if a reader still needs the WAL.

    SQLite restarts the WAL on its own only while there is no reader, which a busy server never has.
    """
    connection.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
    busy: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    return not busy


def connect_writer(
    path: Path, clock: Clock | None, list_components: ListComponents = tuple
) -> sqlite3.Connection:
    """Open the writing connection, create the file and migrate it. Needs the turnstile. Logs the
    components that were not migrated."""
    now_ms = clock.now_ms() if clock is not None else time.time_ns() // 1_000_000
    connection, report = _open(path, now_ms, list_components())
    for failure in report.failures:
        log.error("%s", failure)
    return connection


def migrate_file(path: Path, now_ms: int, components: Sequence[Component] = ()) -> MigrationReport:
    """Create or migrate the file and return the report."""
    connection, report = _open(path, now_ms, components)
    connection.close()
    return report


def _open(
    path: Path, now_ms: int, components: Sequence[Component]
) -> tuple[sqlite3.Connection, MigrationReport]:
    if not path.exists():
        # The WAL and its index inherit these permissions.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection = _connect(path)
    try:
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise StoreUnavailable(f"sqlite: {path.parent} cannot hold a write-ahead log; use a local disk")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        report = bring_up_to_date(connection, path, now_ms, components)
        connection.execute("PRAGMA foreign_keys = ON")
        # A savepoint keeps the pages that it may have to put back. In a file, that cost a batch of 64 more than its
        # commit: the file is made, written and removed each time.
        connection.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        connection.close()
        raise
    return connection, report


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open a read-only connection."""
    connection = _connect(path)
    connection.execute("PRAGMA query_only = ON")
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    # mode=rw: a missing file is an error; no empty database is created.
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=CACHED_STATEMENTS,
    )
    connection.row_factory = sqlite3.Row
    register_functions(connection)
    return connection


def register_functions(connection: sqlite3.Connection) -> None:
    """Register `lower` for all letters, and `regexp`, which SQLite lacks."""
    connection.create_function("lower", 1, _lower, deterministic=True)
    connection.create_function("regexp", 2, _occurs, deterministic=True)


def _lower(value: str | bytes | float | None) -> str | bytes | float | None:
    return value.lower() if isinstance(value, str) else value


def _occurs(pattern: str, value: object) -> bool:
    return isinstance(value, str) and re.search(pattern, value) is not None
