"""Ask the database whether another server has taken over, where it can tell."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from assent.engine.recovery import failovers
from assent.engine.recovery.positions import Restore
from assent.ports import Begin, Store, StoreUnavailable

T = TypeVar("T")

log = logging.getLogger("assent.process")


async def find_failover(store: Store) -> Restore | None:
    """Return a failover that may have lost writes. It explains a store that is behind the recorded head,
    so the server goes on without a person."""
    return await _ask(store, store.read, failovers.find_failover)


async def find_copy(store: Store) -> Restore | None:
    """Return the restore that a copy in another database stands for, also where the data directory is new."""
    return await _ask(store, store.read, failovers.find_copy)


async def keep_history(store: Store) -> None:
    """Keep the history of the present server, once what it may lack is held."""
    await _ask(store, store.write, failovers.keep_history)


async def _ask(store: Store, run: Callable[[Begin[T]], Awaitable[T]], begin: Begin[T]) -> T | None:
    """Return None on SQLite, and where a database service does not tell its history."""
    if store.dialect == "sqlite":
        return None
    try:
        return await run(begin)
    except StoreUnavailable:
        raise
    except Exception as error:
        log.warning("a failover of this database cannot be noticed: %s", error)
        return None
