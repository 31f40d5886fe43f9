"""Work that goes on when its caller is cancelled, so that no effect stays unrecorded."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class ShieldedTasks:
    """The shielded work of one process."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def finish(self) -> None:
        """Wait for the work in flight; a stopping process does this before it closes its store."""
        if self._running:
            await asyncio.wait(set(self._running))
