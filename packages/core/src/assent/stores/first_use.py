"""Work in a store before its first call, such as checking its secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class FirstUse:
    """Runs `prepare` once for a store; every other call waits for its end."""

    def __init__(self, prepare: Callable[[], Awaitable[None]] | None) -> None:
        self._prepare = prepare
        self._attempt: asyncio.Task[None] | None = None
        self._repeat = False
        self.done = prepare is None

    @property
    def is_running(self) -> bool:
        """Whether the present task is the one that prepares the store."""
        return self._attempt is not None and asyncio.current_task() is self._attempt

    def restart(self) -> None:
        """Prepare the store again before its next call, because it is not the one that it was."""
        self._repeat = True
        self.done = self._prepare is None

    async def wait(self) -> None:
        """Wait until the store is prepared. Raises the error of the attempt; a later call repeats
        it.

        All waiting callers share one attempt instead of trying one after another.
        """
        if self.is_running:
            return
        if self._attempt is None or self._attempt.done():
            self._attempt = asyncio.create_task(self._try())
            self._attempt.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        await asyncio.shield(self._attempt)

    def repeat(self) -> bool:
        """Prepare again before the next call, because the database was replaced. Returns False without
        `prepare`."""
        self.done = self._prepare is None
        return not self.done

    def cancel(self) -> None:
        if self._attempt is not None:
            self._attempt.cancel()

    async def _try(self) -> None:
        while self._prepare is not None and not self.done:
            self._repeat = False
            await self._prepare()
            self.done = not self._repeat
