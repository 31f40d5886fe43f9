"""A bound on the calls of one caller to wrapped servers. They do not count against the workspace's
limit, which is for calls that prepare and decide."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

CALLS: Final = 600
WINDOW_SECONDS: Final = 60.0
MAX_CALLERS: Final = 10_000


class CallPace:
    """Counts the calls of each caller in the present window."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._began = now()
        self._counts: dict[str, int] = {}

    def may_call(self, holder: str) -> bool:
        """Count a call. Returns False if the caller has made too many."""
        now = self._now()
        if now - self._began >= WINDOW_SECONDS or len(self._counts) > MAX_CALLERS:
            self._began, self._counts = now, {}
        count = self._counts[holder] = self._counts.get(holder, 0) + 1
        return count <= CALLS
