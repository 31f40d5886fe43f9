"""Rewrites a SQLite file, so that nothing that was deleted or replaced is left in its free space."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from assent.ports import StoreUnavailable
from assent.stores import POSTGRES, sqlite_path

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
