"""How long calls take, as a histogram that Prometheus reads."""

from __future__ import annotations

import bisect
import itertools
from typing import Final


class Latency:
    """How long the calls of a tool took: a histogram."""

    BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

    __slots__ = ("_buckets", "seconds")

    def __init__(self) -> None:
        self._buckets = [0] * (len(self.BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        self._buckets[bisect.bisect_left(self.BOUNDS, seconds)] += 1
        self.seconds += seconds

    @property
    def count(self) -> int:
        return sum(self._buckets)

    def cumulate(self) -> list[tuple[str, int]]:
        """Return the count up to each bound."""
        names = [*(f"{bound:g}" for bound in self.BOUNDS), "+Inf"]
        return list(zip(names, itertools.accumulate(self._buckets), strict=True))
