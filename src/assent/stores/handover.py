"""Hand transactions from event loops to the threads of a store, and results back."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from assent.ports import Begin


class PendingTransaction(NamedTuple):
    """A transaction with the future that its caller awaits."""

    begin: Begin[Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class FinishedTransaction(NamedTuple):
    """The result or the error of a transaction."""

    request: PendingTransaction
    result: Any
    error: BaseException | None


def request_for(begin: Begin[Any]) -> PendingTransaction:
    loop = asyncio.get_running_loop()
    return PendingTransaction(begin, loop, loop.create_future())


def batches(
    waiting: queue.SimpleQueue[PendingTransaction | None], most: int
) -> Iterator[list[PendingTransaction]]:
    """Yield the queued transactions in batches of at most `most`, until the queue yields None."""
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


def deliver(answers: Iterable[FinishedTransaction]) -> None:
    """Set the futures of finished transactions, waking each event loop once. Called from a thread."""
    by_loop: dict[asyncio.AbstractEventLoop, list[FinishedTransaction]] = {}
    for answer in answers:
        by_loop.setdefault(answer.request.loop, []).append(answer)
    for loop, mine in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, mine)
        except RuntimeError:
            continue  # the loop was closed, so no caller waits


def _settle(answers: list[FinishedTransaction]) -> None:
    for request, result, error in answers:
        if request.future.done():
            continue  # cancelled meanwhile
        if error is None:
            request.future.set_result(result)
        else:
            request.future.set_exception(error)
