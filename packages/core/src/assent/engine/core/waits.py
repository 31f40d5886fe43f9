"""Calls that wait for a change of an action, such as a decision on its page, and work that goes on when its caller is
cancelled, so that no effect stays unrecorded.

One poller per process reads the versions of all waited-for actions in one statement: at once after
this process wrote something, and every second for writes of other processes. A waiting call holds
no connection and no transaction. The number of waiting calls is limited per workspace and per
process, so that they do not displace other calls.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Literal, TypeVar

import msgspec

from assent.gate.records import Action
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import SECOND_MS, WAITING_CALLS, WAITING_CALLS_PER_WORKSPACE
from assent.ports import Clock, Store, StoreUnavailable, Transaction
from assent.sql.loader import statements

log = logging.getLogger("assent.waits")

POLL_SECONDS: Final = 1.0
"""Longest delay until a change by another process is seen."""

SETTLE_SECONDS: Final = 0.02
"""Delay that merges a burst of writes into one read."""

Ending = Literal["changed", "time_up", "client_gone", "server_full", "server_stops"]
Gone = Callable[[], Awaitable[object]]


class Waits:
    """The waiting calls of one process."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.poll_seconds = POLL_SECONDS
        self._waiting: dict[asyncio.Event, Action] = {}
        self._by_workspace: Counter[WorkspaceId] = Counter()
        self._poller: asyncio.Task[None] | None = None
        self._released: set[asyncio.Event] = set()

    @property
    def count(self) -> int:
        return len(self._waiting)

    async def wait(self, action: Action, until_ms: int, gone: Gone | None) -> Ending:
        """Wait until the stored version of an action differs from the given one. Returns why the wait
        ended."""
        if (
            len(self._waiting) >= WAITING_CALLS
            or self._by_workspace[action.workspace_id] >= WAITING_CALLS_PER_WORKSPACE
        ):
            return "server_full"
        changed = asyncio.Event()
        self._waiting[changed] = action
        self._by_workspace[action.workspace_id] += 1
        leaving = asyncio.ensure_future(gone()) if gone is not None else None
        try:
            self._start()
            return await self._watch(changed, until_ms, leaving)
        finally:
            del self._waiting[changed]
            self._released.discard(changed)
            self._by_workspace[action.workspace_id] -= 1
            if not self._by_workspace[action.workspace_id]:
                del self._by_workspace[action.workspace_id]
            if leaving is not None:
                leaving.cancel()

    async def _watch(
        self, changed: asyncio.Event, until_ms: int, leaving: asyncio.Future[object] | None
    ) -> Ending:
        loop = asyncio.get_running_loop()
        # A wall clock that is set back must not extend the wait.
        deadline = loop.time() + (until_ms - self._clock.now_ms()) / SECOND_MS
        while True:
            if changed.is_set():
                return "server_stops" if changed in self._released else "changed"
            if leaving is not None and leaving.done():
                return "client_gone"
            left = min(deadline - loop.time(), (until_ms - self._clock.now_ms()) / SECOND_MS)
            if left <= 0:
                return "time_up"
            waiting: asyncio.Future[object] = asyncio.ensure_future(changed.wait())
            events = {waiting} if leaving is None else {waiting, leaving}
            try:
                await asyncio.wait(
                    events, timeout=min(left, self.poll_seconds), return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                waiting.cancel()

    def release(self) -> None:
        """End every wait now, because the server stops."""
        for changed in self._waiting:
            self._released.add(changed)
            changed.set()

    async def close(self) -> None:
        """Stop the poller. Call this before the store is closed."""
        self.release()
        if self._poller is not None:
            self._poller.cancel()
            await asyncio.gather(self._poller, return_exceptions=True)

    def _start(self) -> None:
        if self._poller is None or self._poller.done():
            self._poller = asyncio.create_task(self._poll())
        else:
            self._store.written.set()

    async def _poll(self) -> None:
        while self._waiting:
            self._store.written.clear()
            try:
                found = await self._store.read(self._versions)
            except StoreUnavailable as error:
                log.warning("waiting calls cannot look at their actions: %s", error)
            else:
                for changed, place in self._waiting.items():
                    if found.get((place.workspace_id, place.action_id), place.version) != place.version:
                        changed.set()
            try:
                await asyncio.wait_for(self._store.written.wait(), self.poll_seconds)
            except TimeoutError:
                continue
            await asyncio.sleep(SETTLE_SECONDS)

    def _versions(self) -> Transaction[dict[tuple[str, str], int]]:
        wanted = sorted({(place.workspace_id, place.action_id) for place in self._waiting.values()})
        rows = yield statements.list_action_versions(wanted=msgspec.json.encode(wanted).decode())
        return {(row["workspace_id"], row["action_id"]): row["version"] for row in rows}


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
