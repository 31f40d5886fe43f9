"""Backups of a SQLite file, by SQLite's online backup: a consistent snapshot that blocks no writer."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.ports import StoreUnavailable
from assent.sql.schema import migrations, pending
from assent.stores.backup_files import BackupError, sync
from assent.stores.sqlite_connection import empty_log, translate
from assent.stores.sqlite_schema import read_versions
from assent.stores.sqlite_transactions import TURN_SECONDS, Turnstile

SET_MARK: Final = (
    "INSERT INTO deployment_facts (workspace_id, name, value) VALUES (?, 'backup', ?) "
    "ON CONFLICT (workspace_id, name) DO UPDATE SET value = excluded.value"
)


def write(path: Path, partial: Path, mark: str) -> None:
    """Copy the database into an empty file, mark the copy and check it."""
    if not path.exists():
        raise BackupError(
            f"There is no database at {path}. Name its place with --data-dir or --database-url."
        )
    try:
        with closing(_read_only(path)) as source:
            if not read_versions(source, path):
                raise BackupError(f"{path} holds nothing yet. Start the server on it first.")
            _copy(source, partial)
        with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
            copy.execute(SET_MARK, (SYSTEM_WORKSPACE, mark))
            _check(copy, path)
    except sqlite3.Error as error:
        raise translate(error) from error


def load(source: Path, side: Path) -> None:
    """Copy a backup to a file beside the database and check it. A copy that `assent migrate` made is
    taken, too."""
    try:
        with closing(_read_only(source)) as backup:
            try:
                applied = read_versions(backup, source)
            except sqlite3.DatabaseError:
                applied = {}
            if not applied:
                raise BackupError(
                    f"{source} is no backup of a SQLite database. Name a file that `assent backup` wrote on this kind "
                    "of database; one of PostgreSQL is restored there."
                )
            _check_size(source)
            pending(migrations("sqlite"), applied, f"The backup {source}")
            os.close(os.open(side, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            _copy(backup, side)
        with closing(sqlite3.connect(side, isolation_level=None)) as copy:
            _check(copy, source)
    except sqlite3.Error as error:
        raise BackupError(
            f"The backup {source} is damaged: {error}. Nothing was changed. Take another backup."
        ) from error


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)


def _copy(source: sqlite3.Connection, target: Path) -> None:
    with closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
        # One file: a log beside it would be forgotten when it is moved.
        copy.execute("PRAGMA journal_mode = DELETE")


def _check_size(source: Path) -> None:
    """Refuse a file that was cut: SQLite reads a missing page as an empty one."""
    with source.open("rb") as file:
        header = file.read(32)
    page = int.from_bytes(header[16:18], "big")
    size = int.from_bytes(header[28:32], "big") * (65_536 if page == 1 else page)
    if source.stat().st_size < size:
        raise BackupError(
            f"The backup {source} is damaged: its end is missing. Nothing was changed. Take another backup."
        )


def _check(copy: sqlite3.Connection, of: Path) -> None:
    found = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise BackupError(f"The data of {of} is damaged: {found}. Nothing was changed. Take another backup.")


def exchange(path: Path, side: Path, aside: Path) -> str | None:
    """Rename the side file to the database, and the database with its log to another name. Other
    processes on the file wait, then prepare the new file before they use it."""
    turnstile = Turnstile(path)
    if not turnstile.acquire(TURN_SECONDS):
        turnstile.close()
        raise StoreUnavailable(f"sqlite: another process has held {path} for {TURN_SECONDS:.0f} s")
    try:
        had = path.exists()
        if had:
            _shorten(path)
            os.link(path, aside)
        # The log first: with the new database it would be applied to it, and without its log the old one is found
        # behind and refused.
        for suffix in ("-wal", "-shm"):
            log = path.with_name(path.name + suffix)
            if log.exists():
                log.replace(aside.with_name(aside.name + suffix))
        side.replace(path)
        sync(path.parent)
        return str(aside) if had else None
    finally:
        turnstile.close()


def _shorten(path: Path) -> None:
    """Write the log into the database, if it is not damaged: a single file is easier to keep."""
    try:
        with closing(
            sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None)
        ) as connection:
            empty_log(connection)
    except sqlite3.Error:
        return
