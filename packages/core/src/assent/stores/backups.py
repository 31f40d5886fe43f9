"""Backups of either store: write one, load it beside the store, put it in the store's place.

A backup of SQLite is a SQLite file. One of PostgreSQL is a zip archive with a snapshot of each table as
COPY writes it (docs/decisions/0017). Both carry the mark of a backup. Loading makes a second store: a
file beside the database, or a schema in it. Nothing replaces the store before that one was opened and
verified, and the replaced store stays aside.
"""

from __future__ import annotations

import asyncio
import glob
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.ports import StoreUnavailable
from assent.sql.components import Component
from assent.sql.schema import migrations, pending
from assent.stores import POSTGRES, SQLITE, sqlite_path
from assent.stores.backup_files import BackupError, LoadedBackup, create, publish, sync
from assent.stores.sqlite_connection import empty_log, translate
from assent.stores.sqlite_schema import read_versions
from assent.stores.sqlite_transactions import TURN_SECONDS, Turnstile


async def write_backup(url: str, target: Path, mark: str) -> None:
    """Write a consistent backup with its mark. The file is complete or absent, and only its owner can
    read it. Raises `BackupError`."""
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    await asyncio.to_thread(create, partial, target)
    try:
        if url.startswith(POSTGRES):
            from assent.stores import postgres_backup

            await postgres_backup.write(url, partial, mark)
        else:
            await asyncio.to_thread(write_sqlite, sqlite_path(url).absolute(), partial, mark)
        await asyncio.to_thread(publish, partial, target)
    finally:
        partial.unlink(missing_ok=True)


async def load_backup(url: str, source: Path, stamp: str, components: Sequence[Component]) -> LoadedBackup:
    """Load a backup beside the store and verify it as a file. Raises `BackupError` and `SchemaMismatch`,
    for a backup of a newer release too."""
    if not await asyncio.to_thread(source.is_file):
        raise BackupError(f"There is no file {source}. Name a file that `assent backup` wrote.")
    if url.startswith(POSTGRES):
        from assent.stores import postgres_backup

        return await postgres_backup.load(url, source, f"assent_restoring_{stamp}", components)

    path = sqlite_path(url).absolute()
    side = path.with_name(f"{path.name}.restoring-{stamp}")
    await asyncio.to_thread(load_sqlite, source, side)
    return LoadedBackup(f"{SQLITE}{side}", str(side))


async def drop_loaded(url: str, loaded: LoadedBackup) -> None:
    """Remove a loaded backup that is not used."""
    if url.startswith(POSTGRES):
        from assent.stores import postgres_backup

        await postgres_backup.drop(url, loaded.name)
        return
    side = Path(loaded.name)
    for left in side.parent.glob(f"{glob.escape(side.name)}*"):
        left.unlink()


async def exchange(url: str, loaded: LoadedBackup, stamp: str) -> str | None:
    """Put the loaded backup in the place of the store. Returns the name of the replaced store, which is
    kept; None if there was none. Raises `BackupError` while other processes use a PostgreSQL database."""
    if url.startswith(POSTGRES):
        from assent.stores import postgres_backup

        return await postgres_backup.exchange(url, loaded.name, f"assent_replaced_{stamp}")

    path = sqlite_path(url).absolute()
    aside = path.with_name(f"{path.name}.replaced-{stamp}")
    return await asyncio.to_thread(exchange_sqlite, path, Path(loaded.name), aside)


# A SQLite file is copied by SQLite's online backup: a consistent snapshot that blocks no writer.

SET_MARK: Final = (
    "INSERT INTO deployment_facts (workspace_id, name, value) VALUES (?, 'backup', ?) "
    "ON CONFLICT (workspace_id, name) DO UPDATE SET value = excluded.value"
)


def write_sqlite(path: Path, partial: Path, mark: str) -> None:
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


def load_sqlite(source: Path, side: Path) -> None:
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


def exchange_sqlite(path: Path, side: Path, aside: Path) -> str | None:
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


# Rewrites a SQLite file, so that nothing that was deleted or replaced is left in its free space.

BUSY_SECONDS: Final = 60.0


async def rewrite(url: str) -> bool:
    """Rewrite the file and empty its write-ahead log; other processes wait meanwhile. Returns False on
    PostgreSQL, whose files its own VACUUM FULL rewrites. Raises `StoreUnavailable` if the file stayed in use."""
    if url.startswith(POSTGRES):
        return False
    await asyncio.to_thread(_rewrite_file, sqlite_path(url).absolute())
    return True


def _rewrite_file(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
        try:
            connection.execute("VACUUM")
            (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            raise StoreUnavailable(f"the database file could not be rewritten: {error}") from error
        if busy:
            raise StoreUnavailable(
                "the database file could not be rewritten, because another process reads it"
            )
