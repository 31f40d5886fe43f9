"""A process that works on a store beside the test: `python -m tests.support.stores.child open|append URL …`.

It says `ready` and waits for a line before it starts. What it says after that is acknowledged: it was on disk first.
"""

from __future__ import annotations

import asyncio
import os
import sys

from tests.support.stores.kit import append

from assent.ports import Store
from assent.stores import open_store


def say(word: str) -> None:
    os.write(1, f"{word}\n".encode())


async def barrier() -> None:
    await asyncio.to_thread(sys.stdin.readline)


async def open_it(store: Store) -> None:
    await store.open()
    say("opened")


async def append_some(store: Store, stream: str, number: str) -> None:
    """Append from four callers at once, then end."""

    async def caller(name: str) -> None:
        for step in range(int(number) // 4):
            mark = f"{os.getpid()}-{name}-{step}"
            await store.write(lambda mark=mark: append(stream, mark))  # type: ignore[misc]
            say(mark)

    await asyncio.gather(*(caller(name) for name in "abcd"))


async def main(mode: str, url: str, *arguments: str) -> None:
    store = open_store(url)
    say("ready")
    await barrier()
    modes = {"open": open_it, "append": append_some}
    await modes[mode](store, *arguments)  # type: ignore[operator]
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
