"""The store as an effect of an extension sees it: statements of its own component, run by the server.

An extension gives bound statements, not a generator: its code never runs in the store's writer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from assent.ports import Bound, Rows, Store, Transaction
from assent.sql.components import Component


class GuardedStore:
    """Runs statements of one component on the server's event loop."""

    def __init__(self, store: Store, component: Component, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._own = f"{component.name}."
        self._loop = loop

    async def read(self, *statements: Bound) -> Rows:
        return await self._run(self._store.read, statements)

    async def write(self, *statements: Bound) -> Rows:
        return await self._run(self._store.write, statements)

    async def _run(
        self,
        run: Callable[[Callable[[], Transaction[Rows]]], Coroutine[Any, Any, Rows]],
        given: tuple[Bound, ...],
    ) -> Rows:
        for bound in given:
            if not isinstance(bound, Bound) or not bound.statement.name.startswith(self._own):
                raise TypeError(f"the store runs statements of {self._own[:-1]}, not {bound!r:.80}")

        def transaction() -> Transaction[Rows]:
            rows: Rows = []
            for bound in given:
                rows = yield bound
            return rows

        done = asyncio.run_coroutine_threadsafe(run(transaction), self._loop)
        return await asyncio.wrap_future(done)
