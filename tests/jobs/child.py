"""A runner in a process of its own: `python -m tests.jobs.child URL WORKER NOW_MS CONCURRENCY`.

Writes every job it starts to standard output, one JSON line each, and lets none of them end before it has read a line
from standard input. At the end of its input it stops.
"""

from __future__ import annotations

import asyncio
import sys

import msgspec
from tests.jobs.kit import Clock, Handled, greeting, opened, runner

from assent.engine.core.jobs import Job


async def main(url: str, worker: str, now_ms: str, concurrency: str) -> None:
    go = asyncio.Event()

    async def report(job: Job) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(job) + b"\n")
        sys.stdout.buffer.flush()
        await go.wait()

    kinds = greeting(Handled(report))
    async with opened(url) as store:
        subject = runner(store, Clock(int(now_ms)), kinds, worker=worker, concurrency=int(concurrency))
        task = asyncio.create_task(subject.run())
        if await asyncio.to_thread(sys.stdin.readline):
            go.set()
            await asyncio.to_thread(sys.stdin.read)
        subject.stop()
        await task


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
