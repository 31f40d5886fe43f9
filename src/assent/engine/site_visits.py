"""An honest count of who saw a post.

A visit counts once per visitor, post and day. Who a visitor is is never stored: only a hash under a key that exists in
this process's memory and changes every day. Counts gather in memory and are added to the store every few seconds, so a
view costs no write. A crash loses what was not written yet (seconds), and lets a returning visitor count once more that
day; so do several replicas, each of which knows its own visitors only. A batch that the store did not take is dropped
rather than written twice.

Deliberately unaware of requests: who asks, and whether it is a person, is said by the page.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from assent.engine.site_feed import Post
from assent.kernel.limits import DAY_MS
from assent.ports import Clock, Store, StoreUnavailable, Transaction
from assent.stores.loader import statements

log = logging.getLogger("assent.feed")

FLUSH_SECONDS: Final = 5.0
"""What a crash can lose of the counts."""

MAX_VISITORS_PER_DAY: Final = 200_000
"""Visits that are told apart; past that many none is counted, because none could be told from a repetition."""


class _Where(NamedTuple):
    """What a visit is added to."""

    workspace_id: str
    post_id: str
    day: int
    link: str


class Visits:
    """Tells visitors apart for a day and gathers counts; one for each process, closed at its end."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        entropy: Callable[[int], bytes],
        *,
        flush_seconds: float = FLUSH_SECONDS,
    ) -> None:
        self._store = store
        self._clock = clock
        self._entropy = entropy
        self._flush_seconds = flush_seconds
        self._day = -1
        self._key = b""
        self._seen: set[bytes] = set()
        self._gathered: Counter[_Where] = Counter()
        self._flushing: asyncio.Task[None] | None = None
        self._closing: asyncio.Event | None = None

    def count(self, post: Post, visitor: str, link: str = "") -> bool:
        """Count a view, or a click on a link. False where this visitor has done so today."""
        day = self._clock.now_ms() // DAY_MS
        if day != self._day:
            self._day, self._key, self._seen = day, self._entropy(32), set()
        what = "\0".join((post.workspace_id, post.post_id, link, visitor))
        mark = hashlib.blake2b(what.encode("utf-8", "replace"), key=self._key, digest_size=10).digest()
        if mark in self._seen or len(self._seen) >= MAX_VISITORS_PER_DAY:
            return False
        self._seen.add(mark)
        self._gathered[_Where(post.workspace_id, post.post_id, day, link)] += 1
        if self._flushing is None:
            self._closing = asyncio.Event()
            self._flushing = asyncio.create_task(self._flush_later(self._closing))
        return True

    async def flush(self) -> None:
        """Add what was gathered to the store."""
        batch, self._gathered = self._gathered, Counter()
        if batch:
            try:
                await self._store.write(partial(_add, batch))
            except StoreUnavailable as unavailable:
                log.warning("%d visits were not counted: %s", batch.total(), unavailable)

    async def close(self) -> None:
        """Add the rest; nothing is counted after this."""
        if self._flushing is not None and self._closing is not None:
            self._closing.set()
            await self._flushing
        await self.flush()

    async def _flush_later(self, closing: asyncio.Event) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(closing.wait(), self._flush_seconds)
        self._flushing = None
        await self.flush()


def _add(batch: Counter[_Where]) -> Transaction[None]:
    # In one order everywhere, so that two replicas never wait for each other.
    for where, visits in sorted(batch.items()):
        yield statements.add_site_visits(**where._asdict(), visits=visits)
