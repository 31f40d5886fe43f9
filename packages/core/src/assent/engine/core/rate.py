"""Rate limits: calls per workspace, signups per address, mails of the server per address.

A sliding window: calls are counted by second over the last minute, signups by minute over the last
hour. On PostgreSQL the count is one row per workspace, updated in one statement, so it holds across
replicas. The SQLite store has one serving process and counts in memory.

Calls that were counted in the future, by a clock that was set back since, count as calls of now: they
leave the window when it is over, and no caller is refused for longer.
"""

from __future__ import annotations

from collections import deque
from typing import Final, Protocol

import msgspec

from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import HOUR_MS, MINUTE_MS, SERVER_MAILS_PER_HOUR
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import Record
from assent.ports import Single, Store
from assent.sql.loader import statements

SLOTS: Final = 60
"""Slots of a window. One more slot is counted, so the limit is never exceeded within a window."""


class Window(Record):
    """A limit: how many calls within how long."""

    bucket: str
    limited: str
    most: int
    window_ms: int

    @property
    def slot_ms(self) -> int:
        return self.window_ms // SLOTS


def calls_window(most: int) -> Window:
    """The calls of a workspace within a minute (E83)."""
    return Window("calls", "this workspace", most, MINUTE_MS)


def allow_own(window: Window, most: int | None) -> Window:
    """Return the window of a workspace with a rate of its own; None for that of the settings."""
    return window if most is None else msgspec.structs.replace(window, most=most)


def pages_window(most: int) -> Window:
    return Window("pages", "this page", most, MINUTE_MS)


def public_pages_window(most: int) -> Window:
    """Public pages: ten times the limit, because many people may share an address."""
    return Window("public pages", "this page", 10 * most, MINUTE_MS)


def signups_window(most: int) -> Window:
    """The signups of an address within an hour (E85)."""
    return Window("signups", "signups from this address", most, HOUR_MS)


def mails_window(kind: str) -> Window:
    """The server's own mails of a kind, such as `sign-in`, to an address within an hour."""
    return Window(f"{kind} mails", f"{kind} mails", SERVER_MAILS_PER_HOUR, HOUR_MS)


def refusal(window: Window, oldest_slot: int, now_ms: int) -> Refusal:
    """Build `rate_limited` with the time until the oldest counted call leaves the window (E97)."""
    frees_at_ms = (min(oldest_slot, now_ms // window.slot_ms) + SLOTS + 1) * window.slot_ms
    seconds = max(1, -(-(frees_at_ms - now_ms) // 1000))
    return Refusal(Reason.RATE_LIMITED, facts={"limited": window.limited}, retry_after_seconds=seconds)


class RateLimiter(Protocol):
    """Counts a call or refuses it. A refused call is not counted."""

    async def count(self, window: Window, workspace_id: WorkspaceId, who: str, now_ms: int) -> None: ...


class MemoryRateLimiter:
    """For the SQLite store, and for pages on every store."""

    def __init__(self) -> None:
        self._slots: dict[tuple[str, str, str], deque[list[int]]] = {}
        self._dropped: dict[str, int] = {}

    async def count(self, window: Window, workspace_id: WorkspaceId, who: str, now_ms: int) -> None:
        slot = now_ms // window.slot_ms
        key = (window.bucket, workspace_id, who)
        slots = self._slots.get(key)
        if slots is None:
            self._drop_idle(window, slot)
            slots = self._slots[key] = deque()
        ahead = 0
        while slots and slots[-1][0] > slot:
            ahead += slots.pop()[1]
        while slots and slots[0][0] < slot - SLOTS:
            slots.popleft()
        if ahead:
            slots.append([slot, ahead])
        if sum(count for _, count in slots) >= window.most:
            raise refusal(window, slots[0][0] if slots else slot, now_ms)
        if slots and slots[-1][0] == slot:
            slots[-1][1] += 1
        else:
            slots.append([slot, 1])

    def _drop_idle(self, window: Window, slot: int) -> None:
        # Called for a new caller, so that a flood of addresses cannot grow the table without bound.
        # At most once per slot, because it reads the whole table. Slots of other windows have
        # another length and are skipped.
        if len(self._slots) >= 10_000 and self._dropped.get(window.bucket) != slot:
            self._dropped[window.bucket] = slot
            idle = [
                key
                for key, slots in self._slots.items()
                if key[0] == window.bucket and (not slots or not slot - SLOTS <= slots[-1][0] <= slot)
            ]
            for key in idle:
                del self._slots[key]


class StoredRateLimiter:
    """For PostgreSQL: one row per workspace and window, one statement per call."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def count(self, window: Window, workspace_id: WorkspaceId, who: str, now_ms: int) -> None:
        slot = now_ms // window.slot_ms
        if window.most <= 0:
            raise refusal(window, slot, now_ms)

        named = {"workspace_id": workspace_id, "bucket": f"{window.bucket}:{who}"}
        counted = {**named, "slot": slot, "first_slot": slot - SLOTS}
        while not await self._store.write(Single(statements.count_call(**counted, most=window.most))):
            if await self._store.write(Single(statements.open_window(**named))):
                continue
            (found,) = await self._store.read(Single(statements.read_window(**counted)))
            if found["calls"] >= window.most:
                if found["newest_slot"] > slot:
                    await self._store.write(Single(statements.move_calls(**named, slot=slot)))
                raise refusal(window, found["oldest_slot"], now_ms)


def address_owner() -> WorkspaceId:
    """The id under which signups are counted, since they have no workspace yet."""
    return SYSTEM_WORKSPACE
