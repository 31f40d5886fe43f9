"""Read the facts of a deployment from either store before it is opened, without changing anything.

A SQLite file is opened read-only. Closing an ordinary connection would write a damaged log into the
database and delete it, and with it what could still be saved.
"""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Final

from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.structs import Record
from assent.stores import POSTGRES, sqlite_path

FACTS: Final = "SELECT name, value FROM deployment_facts WHERE workspace_id = "
LAST: Final = "SELECT max(number) FROM checkpoints WHERE workspace_id = "
BODY: Final = "SELECT max(body) FROM checkpoints WHERE number = {number:d} AND workspace_id = "
TABLES: Final = "SELECT count(*) FROM sqlite_schema WHERE name IN ('deployment_facts', 'checkpoints')"


class StoreFacts(Record):
    """The facts of a store, by name, the number of its last checkpoint, and the text of one of them."""

    facts: dict[str, str]
    last_checkpoint: int = 0
    checkpoint: str | None = None


async def read_facts(url: str, checkpoint: int = 0) -> StoreFacts:
    """Return the facts of a store and one checkpoint by its number; nothing of a store that does not
    exist yet."""
    if not url.startswith(POSTGRES):
        return await asyncio.to_thread(_read_sqlite, sqlite_path(url).absolute(), checkpoint)
    from assent.stores.postgres import connect

    async with connect(url) as connection:
        if await connection.fetchval("SELECT to_regclass('checkpoints')") is None:
            return StoreFacts({})
        rows = await connection.fetch(f"{FACTS}$1", SYSTEM_WORKSPACE)
        last = await connection.fetchval(f"{LAST}$1", SYSTEM_WORKSPACE)
        body = await connection.fetchval(f"{BODY.format(number=checkpoint)}$1", SYSTEM_WORKSPACE)
        return StoreFacts({row["name"]: row["value"] for row in rows}, last or 0, body)


def _read_sqlite(path: Path, checkpoint: int) -> StoreFacts:
    import sqlite3  # after the first answer of a process, as the store

    from assent.stores.sqlite_connection import translate

    if not path.exists():
        return StoreFacts({})
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            if connection.execute(TABLES).fetchone()[0] < 2:
                return StoreFacts({})
            system = (SYSTEM_WORKSPACE,)
            facts = dict(connection.execute(f"{FACTS}?", system).fetchall())
            last = connection.execute(f"{LAST}?", system).fetchone()[0]
            body = connection.execute(f"{BODY.format(number=checkpoint)}?", system).fetchone()[0]
            return StoreFacts(facts, last or 0, body)
    except sqlite3.Error as error:
        raise translate(error) from error
