"""What passes between event loops and the threads of a store: requests one way, answers the other.

Deliberately unaware of databases.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from assent.ports import Begin


class PendingTransaction(NamedTuple):
    """A transaction that somebody waits for."""

    begin: Begin[Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class FinishedTransaction(NamedTuple):
    """What became of it."""

    request: PendingTransaction
    result: Any
    error: BaseException | None


def request_for(begin: Begin[Any]) -> PendingTransaction:
    loop = asyncio.get_running_loop()
    return PendingTransaction(begin, loop, loop.create_future())


def batches(
    waiting: queue.SimpleQueue[PendingTransaction | None], most: int
) -> Iterator[list[PendingTransaction]]:
    """What is queued at the time, at most so many at once, until the queue says that it ends."""
    while (first := waiting.get()) is not None:
        batch = [first]
        while len(batch) < most and not waiting.empty():
            following = waiting.get()
            if following is None:
                yield batch
                return
            batch.append(following)
        yield batch
        del batch, first  # an idle thread keeps nobody's objects alive


def deliver(answers: Iterable[FinishedTransaction]) -> None:
    """Hand answers to whoever waits, waking every event loop once. Called from a thread."""
    by_loop: dict[asyncio.AbstractEventLoop, list[FinishedTransaction]] = {}
    for answer in answers:
        by_loop.setdefault(answer.request.loop, []).append(answer)
    for loop, mine in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, mine)
        except RuntimeError:
            continue  # the loop was closed: nobody waits any more


def _settle(answers: list[FinishedTransaction]) -> None:
    for request, result, error in answers:
        if request.future.done():
            continue  # cancelled meanwhile
        if error is None:
            request.future.set_result(result)
        else:
            request.future.set_exception(error)
