"""Work in threads: slow work of this server, and functions of extensions with a time limit.

One caller's long text must not block the event loop. There are few threads for that, because the interpreter runs one
at a time. Nothing here can cancel the work, so it must be bounded.

A function of another package may hang or raise. It is called when an action is staged or edited, never inside a
transaction and never on the event loop. A thread cannot be stopped: a call that exceeds its limit is abandoned, and its
thread stays until the function returns. So each call has a thread of its own, and each extension may have only a few
abandoned ones; after that its calls are refused at once, and other extensions are not affected. These threads are
daemons, so that none keeps the process from ending.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import Any, Final, ParamSpec, TypeVar

from assent.kernel.refusals import Reason, Refusal, Words

P = ParamSpec("P")
T = TypeVar("T")

THREADS: Final = 2
SHORT_CHARS: Final = 4_000
"""A text up to this length is processed on the event loop, since a thread switch would cost
more."""


async def run_apart(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in a thread. Returns its result or raises its exception."""
    loop = asyncio.get_running_loop()
    context = copy_context()
    return await loop.run_in_executor(_threads(), lambda: context.run(work, *args, **kwargs))


async def run_long_apart(chars: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in a thread if the text it works on is long (`chars`), else at once."""
    if chars <= SHORT_CHARS:
        return work(*args, **kwargs)
    return await run_apart(work, *args, **kwargs)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="assent-work")


log = logging.getLogger("assent.extensions")

SECONDS: Final = 2.0
"""How long a function that describes or checks an effect may take."""
MOST_ABANDONED: Final = 4

_lock = threading.Lock()
_abandoned: Counter[str] = Counter()
"""How many threads of each extension do not return."""


async def call_extension(owner: str, name: str, work: Callable[[], T]) -> T:
    """Return the result of a function of the extension `owner`. A hang or an exception is logged and
    raises `Refusal`; a `Refusal` passes."""
    with _lock:
        waiting = _abandoned[owner]
    if waiting >= MOST_ABANDONED:
        log.error("%s was not called: %d earlier calls of %s have not ended", name, waiting, owner)
        raise refuse_extension(name, f"{waiting} earlier calls have not ended")
    future = start_thread(owner, work)
    try:
        async with asyncio.timeout(SECONDS):
            return await asyncio.wrap_future(future)
    except Refusal:
        raise
    except TimeoutError:
        if future.done():
            log.exception("%s failed", name)
            raise refuse_extension(name, "it raised TimeoutError") from None
        log.error("%s did not end within %g seconds; its thread is abandoned", name, SECONDS)
        _abandon(owner, future)
        raise refuse_extension(name, f"it took longer than {SECONDS:g} seconds") from None
    except Exception as error:
        log.exception("%s failed", name)
        raise refuse_extension(name, f"it raised {type(error).__name__}") from error


async def await_extension(name: str, call: Awaitable[T]) -> T:
    """Return the result of an extension's asynchronous function. One that does not end or raises is
    logged and raises `Refusal`; a `Refusal` passes."""
    try:
        async with asyncio.timeout(SECONDS):
            return await call
    except Refusal:
        raise
    except Exception as error:
        log.exception("%s failed", name)
        raise refuse_extension(name, f"it raised {type(error).__name__}") from error


def start_thread(owner: str, work: Callable[[], T]) -> Future[T]:
    """Run `work` in a daemon thread of its own. Its exception is that of `contain_error`."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # a caller that stops waiting must not cancel it
    context = copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:
            future.set_exception(contain_error(error))

    threading.Thread(target=run, name=f"extension-{owner}", daemon=True).start()
    return future


def contain_error(error: BaseException) -> Exception:
    """Return the error of an extension's function. One that an event loop would take for its own (an end
    of the process, a cancellation, StopIteration) becomes a RuntimeError, so that the call is answered."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration | CancelledError):
        return error
    contained = RuntimeError(f"it raised {type(error).__name__}")
    contained.__cause__ = error
    return contained


def _abandon(owner: str, future: Future[Any]) -> None:
    with _lock:
        _abandoned[owner] += 1

    def recover(_: Future[Any]) -> None:
        with _lock:
            _abandoned[owner] -= 1

    future.add_done_callback(recover)


def refuse_extension(name: str, why: str) -> Refusal:
    said = f"The operator's own code failed ({name}: {why}). Nothing was staged, changed or sent."
    return Refusal(Reason.CONNECTOR_FAILED, words=Words(summary=said, user_message=said))
