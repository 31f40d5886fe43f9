"""A process that works on a store beside the test: `python -m tests.stores.child open|append|write-on URL …`.

It says `ready` and waits for a line before it starts. What it says after that is acknowledged: it was on disk first.
"""

from __future__ import annotations

import asyncio
import os
import sys
from itertools import count

from tests.stores.kit import append

from assent.ports import Store, StoreUnavailable
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


async def write_on(store: Store, stream: str) -> None:
    """Append from eight callers until killed. When the store is down, say so once and wait for a line."""
    up = asyncio.Event()
    up.set()

    async def caller(name: str) -> None:
        for step in count():
            await up.wait()
            mark = f"{os.getpid()}-{name}-{step}"
            try:
                await store.write(lambda mark=mark: append(stream, mark))  # type: ignore[misc]
            except StoreUnavailable:
                if up.is_set():
                    up.clear()
                    say("down")
                    await barrier()
                    up.set()
            else:
                say(mark)

    await asyncio.gather(*(caller(name) for name in "abcdefgh"))


async def main(mode: str, url: str, *arguments: str) -> None:
    store = open_store(url)
    say("ready")
    await barrier()
    modes = {"open": open_it, "append": append_some, "write-on": write_on}
    await modes[mode](store, *arguments)  # type: ignore[operator]
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
