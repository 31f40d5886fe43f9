"""Calls of the functions that perform, look up and measure, outside the server's event loop.

A plain function gets a daemon thread of its own. Coroutines of an operator run on an event loop of
its own, in a thread: one that blocks stops only its operator, and clients that it keeps between
calls stay on one loop. The number of calls at a time is bounded, because a call whose time limit has
passed may still run.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from assent.engine.core.offloading import contain_error, start_thread

log = logging.getLogger("assent.extensions")
T = TypeVar("T")

MOST_AT_ONCE: Final = 16
"""The most calls of one operator at a time, also those whose time limit has passed."""


class Busy(Exception):  # noqa: N818 - a state
    """The function was not called, because too many earlier calls are still running."""


class Caller:
    """Runs the functions of one operator."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._running = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run_sync(self, function: Callable[[], T]) -> T:
        """Run a plain function in a thread. Raises `Busy` if it was not called."""
        self._begin()
        future = start_thread(self._name, function)
        future.add_done_callback(self._finish)
        return await asyncio.wrap_future(future)

    async def run_async(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the operator's event loop. Raises `Busy` if it was not called."""
        self._begin()
        start = _Start()
        future = asyncio.run_coroutine_threadsafe(_contain(make, start), self._own_loop())
        future.add_done_callback(self._finish)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if start.prevent():
                raise Busy(f"an earlier call of {self._name} blocks its event loop") from None
            raise

    def _begin(self) -> None:
        with self._lock:
            if self._running >= MOST_AT_ONCE:
                raise Busy(f"{self._running} earlier calls of {self._name} have not ended")
            self._running += 1

    def _finish(self, _: Future[Any]) -> None:
        with self._lock:
            self._running -= 1

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                name = f"extension-loop-{self._name}"
                threading.Thread(target=_keep_running, args=(self._loop,), name=name, daemon=True).start()
            return self._loop


def _keep_running(loop: asyncio.AbstractEventLoop) -> None:
    """Run an event loop also after a function stopped it or a task tried to end the process."""
    while not loop.is_closed():
        try:
            loop.run_forever()
        except BaseException:
            log.exception("a task of an extension ended its event loop, which runs again")


class _Start:
    """Whether a call has started. One that has not can be prevented, so that it certainly had no
    effect."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = ""

    def begin(self) -> bool:
        return self._enter("begun")

    def prevent(self) -> bool:
        return self._enter("prevented")

    def _enter(self, state: str) -> bool:
        with self._lock:
            self._state = self._state or state
            return self._state == state


async def _contain(make: Callable[[], Coroutine[Any, Any, T]], start: _Start) -> T:
    """Run a coroutine. Its exception is that of `contain_error`, unless the caller cancelled it."""
    if not start.begin():
        raise Busy("the call was given up before it started")
    try:
        return await make()
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        contained = contain_error(error)
        raise contained from contained.__cause__
