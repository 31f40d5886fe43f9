"""A clock that is set back leaves no job behind it: leases of the future are over, retries and series go on."""

from __future__ import annotations

from functools import partial

import pytest
from tests.support.jobs.kit import (
    LEASE_MS,
    NOON,
    Clock,
    Handled,
    ask,
    claim,
    enqueue,
    greeting,
    look,
    opened,
    runner,
    running,
)

from assent.engine.core import jobs
from assent.engine.core.jobs import Job, JobFailed, JobState
from assent.kernel.limits import DAY_MS, HOUR_MS, MINUTE_MS

pytestmark = pytest.mark.anyio

BACK_MS = 2 * HOUR_MS


async def fails(job: Job) -> None:
    raise JobFailed("not yet")


async def test_a_job_of_a_dead_worker_is_taken_over_after_the_clock_was_set_back(url: str) -> None:
    handler, clock = Handled(), Clock()
    async with opened(url) as store:
        await enqueue(store, "k")
        (lost,) = await claim(store, greeting(handler), clock.at_ms)
        clock.at_ms -= BACK_MS
        assert await runner(store, clock, greeting(handler)).run_due_once() == 1
        assert (await look(store, lost)).state is JobState.DONE


async def test_a_running_server_notices_that_its_clock_was_set_back(url: str) -> None:
    handler, clock = Handled(), Clock()
    async with opened(url) as store, running(runner(store, clock, greeting(handler))):
        await enqueue(store, "first")
        await handler.until_ran(1)
        await claim(store, greeting(handler), clock.at_ms)
        await enqueue(store, "lost", due_ms=NOON + MINUTE_MS)
        clock.at_ms -= BACK_MS
        await handler.until_ran(2)
    assert handler.keys == ["first", "lost"]


async def test_a_job_of_another_process_is_left_alone_while_their_clocks_differ_a_little(url: str) -> None:
    handler, clock = Handled(), Clock()
    async with opened(url) as store:
        await enqueue(store, "k")
        await claim(store, greeting(handler), clock.at_ms + MINUTE_MS // 2)
        assert await runner(store, clock, greeting(handler)).run_due_once() == 0


async def test_a_retry_comes_after_its_delay_by_the_new_time(url: str) -> None:
    handler, clock = Handled(fails), Clock()
    kinds = greeting(handler, MINUTE_MS, 30 * MINUTE_MS)
    async with opened(url) as store:
        await enqueue(store, "k")
        await runner(store, clock, kinds).run_due_once()
        clock.at_ms -= BACK_MS
        assert await runner(store, clock, kinds).run_due_once() == 1
        assert await runner(store, clock, kinds).run_due_once() == 0
        (waiting,) = handler.ran[1:]
        found = await look(store, waiting)
        assert (found.attempts, found.due_ms) == (2, clock.at_ms + 30 * MINUTE_MS)


async def test_a_series_goes_on_although_its_next_period_has_run_before(url: str) -> None:
    handler, clock = Handled(), Clock()
    kinds = greeting(handler, every_ms=HOUR_MS)
    async with opened(url) as store:
        await store.write(partial(jobs.enqueue_next, "greet", HOUR_MS, clock.at_ms))
        for _ in range(3):
            clock.at_ms += HOUR_MS
            assert await runner(store, clock, kinds).run_due_once() == 1
        clock.at_ms -= BACK_MS
        assert await runner(store, clock, kinds).run_due_once() == 1, "the waiting one is too far ahead"
        for _ in range(3):
            clock.at_ms += HOUR_MS
            assert await runner(store, clock, kinds).run_due_once() == 1
        rows = await store.read(ask("SELECT count(*) FROM jobs WHERE state = 'waiting'"))
    assert rows == [(1,)]


async def test_a_job_is_no_sooner_due_because_it_is_far_ahead(url: str) -> None:
    handler, clock = Handled(), Clock()
    async with opened(url) as store:
        await enqueue(store, "in a year", due_ms=NOON + 365 * DAY_MS)
        assert await runner(store, clock, greeting(handler)).run_due_once() == 0
        clock.at_ms += LEASE_MS
        assert await runner(store, clock, greeting(handler)).run_due_once() == 0
