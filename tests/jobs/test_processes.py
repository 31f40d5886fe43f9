"""Runners in several processes on one store: each job once, and a killed worker's job goes to another."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from tests.jobs.kit import (
    DEADLINE_SECONDS,
    LEASE_MS,
    NOON,
    Clock,
    Handled,
    ask,
    enqueue,
    greeting,
    look,
    opened,
    runner,
    running,
)
from tests.postgres_server import FAST, MISSING, Cluster, Server, binaries

from assent.engine.core import jobs
from assent.engine.core.jobs import Job, JobState

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]


class Child:
    """The other end of `tests.jobs.child`."""

    def __init__(self, process: Process) -> None:
        self.process = process

    async def next_job(self) -> Job | None:
        """The next job that it started; None when it has ended."""
        assert self.process.stdout is not None
        async with asyncio.timeout(DEADLINE_SECONDS):
            line = await self.process.stdout.readline()
        return msgspec.json.decode(line, type=Job) if line else None

    def let_go(self) -> None:
        """Let its jobs end, those that it holds and those that it will claim."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"go\n")

    def finish(self) -> None:
        """Let it stop."""
        assert self.process.stdin is not None
        self.process.stdin.close()


@asynccontextmanager
async def child(url: str, worker: str, *, concurrency: int = 4) -> AsyncIterator[Child]:
    arguments = [url, worker, str(NOON), str(concurrency)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.jobs.child", *arguments, cwd=ROOT, stdin=PIPE, stdout=PIPE
    )
    try:
        yield Child(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_a_killed_workers_job_is_taken_over_when_its_lease_ends(url: str) -> None:
    handler, clock = Handled(), Clock()
    async with opened(url) as store:
        await enqueue(store, "k")
        subject = runner(store, clock, greeting(handler), worker="survivor")
        async with child(url, "victim") as victim:
            held = await victim.next_job()
            assert held is not None
            assert (held.key, held.worker) == ("k", "victim")
            victim.process.kill()
            await victim.process.wait()
        clock.at_ms = NOON + LEASE_MS - 1
        assert await subject.run_due_once() == 0
        clock.at_ms = NOON + LEASE_MS
        assert await subject.run_due_once() == 1
        done = await look(store, held)
        assert (done.state, done.worker, done.fence) == (JobState.DONE, "survivor", held.fence + 1)

        # What the victim would still have written, had it only been slow.
        assert not await store.write(lambda: jobs.complete(held, NOON + LEASE_MS + 1))
        assert await store.write(lambda: jobs.fail(held, NOON + LEASE_MS + 1, "late", ())) is None
        assert await look(store, held) == done


async def test_two_processes_run_each_job_once(url: str) -> None:
    count = 200
    async with opened(url) as store, AsyncExitStack() as stack:
        for n in range(count):
            await enqueue(store, str(n))
        children = [await stack.enter_async_context(child(url, name)) for name in ("one", "two")]
        # Both hold a job before either may go on, so both take part.
        firsts = [await each.next_job() for each in children]
        ledger = [job.key for job in firsts if job is not None]
        assert len(ledger) == 2
        for each in children:
            each.let_go()

        async def collect(each: Child) -> None:
            while (job := await each.next_job()) is not None:
                ledger.append(job.key)
                if len(ledger) == count:
                    for other in children:
                        other.finish()

        await asyncio.gather(*(collect(each) for each in children))
        assert [await each.process.wait() for each in children] == [0, 0]
        assert sorted(ledger, key=int) == [str(n) for n in range(count)]
        ends = await store.read(ask("SELECT state, attempts, count(*) FROM jobs GROUP BY state, attempts"))
        assert ends == [("done", 1, count)]


@pytest.fixture
def own_server() -> Iterator[Cluster]:
    """A PostgreSQL of the test's own, to stop and start."""
    if binaries() is None:
        pytest.skip(MISSING)
    cluster = Cluster(FAST)
    yield cluster
    cluster.delete()


@pytest.fixture
def own_url(own_server: Cluster) -> str:
    server = Server(own_server.url)
    try:
        return server.create()
    finally:
        server.close()


@pytest.mark.slow
async def test_a_runner_goes_on_when_its_database_server_was_restarted(
    own_server: Cluster, own_url: str
) -> None:
    handler = Handled()
    async with opened(own_url) as store, running(runner(store, Clock(), greeting(handler))):
        await enqueue(store, "before")
        await store.until_state(JobState.DONE)
        await asyncio.to_thread(own_server.stop)
        await store.until_refused(2)
        await asyncio.to_thread(own_server.start)
        async with opened(own_url) as elsewhere:
            await enqueue(elsewhere, "after")
        await store.until_state(JobState.DONE, 2)
    assert handler.keys == ["before", "after"]
