"""When each caller was last here: an API key, or a process on the server's machine.

A call costs no write. The edge notes a caller at most once in ten minutes; callers are buffered in
memory and stored a few seconds later. A crash loses the buffer, and a later call notes it again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from functools import partial
from typing import Final

from assent.engine.core.tenancy import Principal
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import MINUTE_MS
from assent.ports import Store, StoreUnavailable, Transaction
from assent.sql.loader import statements

log = logging.getLogger("assent.callers")

FLUSH_SECONDS: Final = 2.0
NOTED_EVERY_MS: Final = 10 * MINUTE_MS

Caller = tuple[WorkspaceId, str]


class SeenCallers:
    """The callers that this process has seen."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._gathered: dict[Caller, int] = {}
        self._flushing: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def note(self, principal: Principal, now_ms: int) -> None:
        self._gathered[principal.workspace_id, principal.name] = now_ms
        if self._flushing is None and not self._closing.is_set():
            self._flushing = asyncio.create_task(self._flush_later())

    async def flush(self) -> None:
        """Store the gathered callers."""
        batch, self._gathered = self._gathered, {}
        if batch:
            try:
                await self._store.write(partial(_store, batch))
            except StoreUnavailable as unavailable:
                log.warning("%d callers were not noted: %s", len(batch), unavailable)

    async def close(self) -> None:
        """Store what is buffered, and stop."""
        self._closing.set()
        if self._flushing is not None:
            await self._flushing

    async def _flush_later(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), FLUSH_SECONDS)
        self._flushing = None
        await self.flush()


def _store(batch: dict[Caller, int]) -> Transaction[None]:
    # One order everywhere, so that two replicas never deadlock.
    for (workspace_id, caller), seen_ms in sorted(batch.items()):
        yield statements.note_caller(workspace_id=workspace_id, caller=caller, seen_ms=seen_ms)


def list_seen(workspace_id: WorkspaceId) -> Transaction[dict[str, int]]:
    """When each caller of a workspace was last here."""
    rows = yield statements.list_callers(workspace_id=workspace_id)
    return {row["caller"]: row["seen_ms"] for row in rows}
