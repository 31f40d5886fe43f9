"""What the inside of the server needs from the outside, handed over once by the composition root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assent.engine.rate import RateLimiter, Window
from assent.kernel import ids
from assent.ports import Clock, Store


@dataclass(frozen=True, slots=True)
class Services:
    """Store, clock, entropy, limits and the address under which people reach the pages."""

    store: Store
    clock: Clock
    entropy: Callable[[int], bytes]
    rate_limiter: RateLimiter
    calls: Window
    signups: Window
    page_address: Callable[[], str | None]
    """Where the pages are served right now, or None when no process on this store serves them."""

    def new_id(self, now_ms: int) -> str:
        return ids.uuid7(now_ms, self.entropy(ids.RANDOM_BYTES))
