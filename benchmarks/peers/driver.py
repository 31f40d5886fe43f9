"""Runs a peer's loops as it is told: reads the numbers of callers and of loops for each from a line of its input, and
prints how many seconds all of them took. Runs in the peers' environment and knows nothing of Assent."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sized
from concurrent.futures import ThreadPoolExecutor


def serve(run: Callable[[int, int], None], published: Sized) -> None:
    """Run loops until the input ends. `published` grows by one with each effect."""
    for line in sys.stdin:
        callers, loops = map(int, line.split())
        before, began = len(published), time.perf_counter()
        run(callers, loops)
        took = time.perf_counter() - began
        if len(published) - before != callers * loops:
            sys.exit(f"{len(published) - before} effects of {callers * loops} loops")
        print(took, flush=True)


def in_threads(loop: Callable[[], None]) -> Callable[[int, int], None]:
    """Each caller in a thread, one loop after the other."""

    def caller(loops: int) -> None:
        for _ in range(loops):
            loop()

    def run(callers: int, loops: int) -> None:
        with ThreadPoolExecutor(callers) as pool:
            list(pool.map(caller, [loops] * callers))

    return run
