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

from assent.ports import StoreUnavailable
from assent.sql.components import Component
from assent.stores import POSTGRES, SQLITE, sqlite_path
from assent.stores.backup_files import BackupError, LoadedBackup, create, publish


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
            from assent.stores import sqlite_backup

            await asyncio.to_thread(sqlite_backup.write, sqlite_path(url).absolute(), partial, mark)
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
    from assent.stores import sqlite_backup

    path = sqlite_path(url).absolute()
    side = path.with_name(f"{path.name}.restoring-{stamp}")
    await asyncio.to_thread(sqlite_backup.load, source, side)
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
    from assent.stores import sqlite_backup

    path = sqlite_path(url).absolute()
    aside = path.with_name(f"{path.name}.replaced-{stamp}")
    return await asyncio.to_thread(sqlite_backup.exchange, path, Path(loaded.name), aside)


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
