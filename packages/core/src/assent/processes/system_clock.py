"""The clock of a server process."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from assent.kernel.limits import CLOCKS_AGREE_MS

log = logging.getLogger("assent.clock")


def read_machine_clock() -> int:
    return time.time_ns() // 1_000_000


def read_steady_clock() -> int:
    """Return the milliseconds since some moment. Setting the machine's clock does not change them."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)) // 1_000_000


class SystemClock:
    """The machine's clock, until `follow` is called: then the database's.

    Processes on one PostgreSQL must agree when a lease ends, or one whose clock is ahead would take over
    what another is still doing. Between two comparisons a steady clock counts, so that a change of the
    machine's clock has no effect.
    """

    def __init__(
        self,
        read_machine_ms: Callable[[], int] = read_machine_clock,
        read_steady_ms: Callable[[], int] = read_steady_clock,
    ) -> None:
        self._read_machine_ms = read_machine_ms
        self._read_steady_ms = read_steady_ms
        self._began_ms: int | None = None
        """What the clock said when the steady one was at 0; None while the machine's counts."""

    def now_ms(self) -> int:
        if self._began_ms is None:
            return self._read_machine_ms()
        return self._began_ms + self._read_steady_ms()

    def follow(self, database_ms: int, delay_ms: int) -> None:
        """Compare with the database's clock, which was read at most `delay_ms` ago. A small difference is left."""
        now_ms = self.now_ms()
        apart_ms = now_ms - database_ms
        if not -CLOCKS_AGREE_MS <= apart_ms <= delay_ms + CLOCKS_AGREE_MS:
            log.warning("the clock is %d ms ahead of the database's; the database's counts", apart_ms)
            now_ms = database_ms + delay_ms // 2
        elif self._began_ms is not None:
            return
        self._began_ms = now_ms - self._read_steady_ms()
