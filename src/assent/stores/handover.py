"""Hand transactions from event loops to the threads of a store, and results back."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Iterator
from typing import Any

import msgspec

from assent.ports import Begin


class Request(msgspec.Struct, eq=False):
    """A transaction, the future that its caller awaits, and once it has run its result or its error."""

    begin: Begin[Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None


def batches(waiting: queue.SimpleQueue[Request | None], most: int) -> Iterator[list[Request]]:
    """Yield the queued requests in batches of at most `most`, until the queue yields None."""
    while (first := waiting.get()) is not None:
        batch = [first]
        while len(batch) < most and not waiting.empty():
            following = waiting.get()
            if following is None:
                yield batch
                return
            batch.append(following)
        yield batch
        del batch, first  # an idle thread must not keep callers' objects alive


def deliver(requests: list[Request]) -> None:
    """Set the futures of requests that have run, waking each event loop once. Called from a thread."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Request]] = {}
    for request in requests:
        by_loop.setdefault(request.loop, []).append(request)
    for loop, mine in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, mine)
        except RuntimeError:
            continue  # the loop was closed, so no caller waits


def _settle(requests: list[Request]) -> None:
    for request in requests:
        if request.future.done():
            continue  # cancelled meanwhile
        if request.error is None:
            request.future.set_result(request.result)
        else:
            request.future.set_exception(request.error)
