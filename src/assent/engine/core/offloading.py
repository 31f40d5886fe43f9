"""Run slow work in threads, so that one caller's long text does not block the event loop.

There are few threads, because the interpreter runs one at a time. Nothing here can cancel the work,
so it must be bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import Final, ParamSpec, TypeVar

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
