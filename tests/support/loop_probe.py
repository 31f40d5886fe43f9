"""Measures what no caller may take from the others: the processor time for which one callback holds the event loop.

Processor time of the loop's own thread, not time by the clock, so that a busy machine is no finding.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Probe:
    """The longest that a callback held the loop, and which one it was."""

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self.callback = ""

    def note(self, seconds: float, handle: asyncio.Handle) -> None:
        if seconds * 1000 > self.longest_ms:
            self.longest_ms = seconds * 1000
            self.callback = repr(handle)


@contextmanager
def probed() -> Iterator[Probe]:
    """Watch every callback of the event loops of this thread.

    Without the collector: to go through what thousands of earlier tests left is not the callback's doing.
    """
    probe, run = Probe(), asyncio.Handle._run
    gc.collect()
    gc.disable()

    def measured(handle: asyncio.Handle) -> None:
        began = time.thread_time()
        run(handle)
        probe.note(time.thread_time() - began, handle)

    asyncio.Handle._run = measured  # type: ignore[method-assign, assignment]
    try:
        yield probe
    finally:
        asyncio.Handle._run = run  # type: ignore[method-assign]
        gc.enable()


async def longest_wait_ms(work: Awaitable[T], other: Callable[[], Awaitable[object]]) -> tuple[T, float]:
    """The work's result, and the most that this process worked while one of the other calls waited.

    Processor time of all threads: whoever holds the loop or the interpreter works meanwhile, and another process on a
    busy machine does not count."""
    task = asyncio.ensure_future(work)
    longest = 0.0
    while not task.done():
        began = time.process_time()
        await other()
        longest = max(longest, time.process_time() - began)
        await asyncio.wait([task], timeout=0.005)
    return await task, longest * 1000
