"""Work that takes a while, away from the event loop: one caller's long text must not keep everybody else waiting.

Few threads, because the interpreter runs one at a time: more of them would only take turns away from the event loop.
The work itself is bounded where it is done; nothing here can end it.
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
"""A text up to this length is done with at once: a change of threads costs more than it does."""


async def run_apart(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the work returns or raises, done in a thread."""
    loop = asyncio.get_running_loop()
    context = copy_context()
    return await loop.run_in_executor(_threads(), lambda: context.run(work, *args, **kwargs))


async def run_long_apart(chars: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for work on a text of so many characters, which is short as a rule."""
    if chars <= SHORT_CHARS:
        return work(*args, **kwargs)
    return await run_apart(work, *args, **kwargs)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="assent-work")
