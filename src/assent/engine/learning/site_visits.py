"""How often a post was seen and its links followed.

Every view counts; nothing about who looked is kept. Counts gather in memory and are added to the store every few
seconds, so a view costs no write; a crash loses what was not written yet (seconds). A batch that the store did not take
is dropped rather than written twice.

Deliberately unaware of requests: whether one is a view is said by the page.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from functools import partial
from typing import Final, NamedTuple

from assent.engine.learning.site_feed import SitePost
from assent.kernel.limits import DAY_MS
from assent.ports import Clock, Store, StoreUnavailable, Transaction
from assent.sql.loader import statements

log = logging.getLogger("assent.feed")

FLUSH_SECONDS: Final = 5.0
"""What a crash can lose of the counts."""


class _Where(NamedTuple):
    """What a visit is added to."""

    workspace_id: str
    post_id: str
    day: int
    link: str


class Visits:
    """Gathers counts; one for each process, closed at its end."""

    def __init__(self, store: Store, clock: Clock, *, flush_seconds: float = FLUSH_SECONDS) -> None:
        self._store = store
        self._clock = clock
        self._flush_seconds = flush_seconds
        self._gathered: Counter[_Where] = Counter()
        self._flushing: asyncio.Task[None] | None = None
        self._closing: asyncio.Event | None = None

    def count(self, post: SitePost, link: str = "") -> None:
        """Count a view, or a click on a link."""
        day = self._clock.now_ms() // DAY_MS
        self._gathered[_Where(post.workspace_id, post.post_id, day, link)] += 1
        if self._flushing is None:
            self._closing = asyncio.Event()
            self._flushing = asyncio.create_task(self._flush_later(self._closing))

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
