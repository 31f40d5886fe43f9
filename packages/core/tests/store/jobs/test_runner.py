"""What the runner does with handlers that return, raise, hang or lose their job, and with a store that goes away."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, TypeVar

import pytest
from tests.support.jobs.kit import (
    DEADLINE_SECONDS,
    LEASE_MS,
    NOON,
    WORKSPACE,
    Clock,
    Handled,
    Watched,
    ask,
    claim,
    enqueue,
    greeting,
    look,
    next_ready,
    opened,
    runner,
    running,
)

from assent.engine.core import jobs
from assent.engine.core.jobs import Job, JobFailed, JobState
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import DAY_MS, HOUR_MS, MINUTE_MS
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Begin, StoreUnavailable, Transaction

T = TypeVar("T")

NEVER_MS = 3_600_000
"""A wait that outlasts every test: whoever goes on must have been woken."""


async def fails(job: Job) -> None:
    raise JobFailed("not yet")


async def forever(job: Job) -> None:
    await asyncio.Event().wait()


async def ended(store: Watched, job: Job, state: JobState) -> Job:
    found = await look(store, job)
    assert found.state is state
    return found


# Running


async def test_a_committed_job_runs_once_and_is_done(url: str) -> None:
    handler, clock = Handled(), Clock()
    async with opened(url) as store:
        await enqueue(store, "k", who="you")
        subject = runner(store, clock, greeting(handler))
        clock.at_ms += 7
        assert [await subject.run_due_once(), await subject.run_due_once()] == [1, 0]
        (job,) = handler.ran
        assert job.payload == {"who": "you"}
        done = await ended(store, job, JobState.DONE)
        assert (done.finished_ms, done.lease_until_ms) == (NOON + 7, None)


async def test_a_job_due_while_the_server_was_down_runs_late_and_once(url: str) -> None:
    handler, clock = Handled(), Clock()
    async with opened(url) as store:
        await enqueue(store, "k", due_ms=NOON + DAY_MS)
        assert await runner(store, clock, greeting(handler)).run_due_once() == 0
    clock.at_ms = NOON + 3 * DAY_MS
    for _ in range(2):
        async with opened(url) as store:
            await runner(store, clock, greeting(handler)).run_due_once()
    assert handler.keys == ["k"]


async def test_waking_starts_a_job_at_once(url: str) -> None:
    handler = Handled()
    async with (
        opened(url) as store,
        running(runner(store, Clock(), greeting(handler), poll_ms=NEVER_MS)) as subject,
    ):
        await enqueue(store, "k")
        subject.wake()
        await handler.until_ran(1)


async def test_no_more_jobs_run_at_once_than_allowed(url: str) -> None:
    gate, at_once, most = asyncio.Event(), 0, 0

    async def count(job: Job) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await gate.wait()
        at_once -= 1

    handler = Handled(count)
    async with opened(url) as store:
        for n in range(7):
            await enqueue(store, str(n))
        async with running(runner(store, Clock(), greeting(handler), concurrency=3)):
            await handler.until_ran(3)
            await store.until_state(JobState.RUNNING, 3)
            gate.set()
            await store.until_state(JobState.DONE, 7)
    assert (len(handler.ran), most) == (7, 3)


# Failing


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (JobFailed("the page was gone"), "the page was gone"),
        (Refusal(Reason.MISSING_CONNECTOR), "refused: missing_connector"),
    ],
)
async def test_a_failure_that_is_meant_for_people_is_kept_in_its_words(
    url: str, error: Exception, kept: str
) -> None:
    async def fail(job: Job) -> None:
        raise error

    async with opened(url) as store:
        await enqueue(store, "k")
        await runner(store, Clock(), greeting(Handled(fail))).run_due_once()
        (dead,) = await store.read(partial(jobs.list_dead, 10))
        assert dead.last_error == kept


async def test_a_handler_that_hangs_is_cancelled_at_its_deadline_and_retried(url: str) -> None:
    cancelled: list[str] = []

    async def hang(job: Job) -> None:
        try:
            await forever(job)
        finally:
            cancelled.append(job.key)

    handler = Handled(hang)
    async with opened(url) as store:
        await enqueue(store, "k")
        subject = runner(store, Clock(), greeting(handler, 1_000, deadline_ms=20))
        async with asyncio.timeout(DEADLINE_SECONDS):
            await subject.run_due_once()
        waiting = await ended(store, handler.ran[0], JobState.WAITING)
        assert (waiting.due_ms, waiting.attempts, cancelled) == (NOON + 1_000, 1, ["k"])


async def test_a_job_that_lost_too_many_workers_is_dead_without_running_again(url: str) -> None:
    handler, clock = Handled(), Clock()
    kinds = greeting(handler)
    async with opened(url) as store:
        await enqueue(store, "k")
        for _ in range(1 + jobs.LOST_WORKERS_ALLOWED):
            (job,) = await claim(store, kinds, clock.at_ms)
            clock.at_ms += LEASE_MS
        assert await runner(store, clock, kinds).run_due_once() == 1
        dead = await ended(store, job, JobState.DEAD)
        assert (dead.last_error, handler.ran) == (jobs.LOST, [])


async def test_killed_workers_use_up_no_retry(url: str) -> None:
    handler, clock = Handled(fails), Clock()
    kinds = greeting(handler, 1_000, 60_000)
    async with opened(url) as store:
        await enqueue(store, "k")
        for _ in range(jobs.LOST_WORKERS_ALLOWED):
            (job,) = await claim(store, kinds, clock.at_ms)
            clock.at_ms += LEASE_MS
        await runner(store, clock, kinds).run_due_once()
        waiting = await ended(store, job, JobState.WAITING)
        assert (waiting.due_ms - clock.at_ms, waiting.tries) == (1_000, 1)


async def test_a_job_is_restarted_with_all_its_retries_whatever_became_of_it(url: str) -> None:
    handler, clock = Handled(fails), Clock()
    kinds = greeting(handler, 60_000)
    async with opened(url) as store:
        restart = partial(jobs.restart, WORKSPACE, "greet", "k", {}, NOON + 5)
        for _ in range(2):  # first it is not there, then it waits for its retry
            clock.at_ms = NOON + 5
            await store.write(restart)
            assert await runner(store, clock, kinds).run_due_once() == 1
        clock.at_ms += 60_000
        await runner(store, clock, kinds).run_due_once()
        await ended(store, handler.ran[0], JobState.DEAD)
        await store.write(restart)
        assert await runner(store, clock, kinds).run_due_once() == 1
        again = await ended(store, handler.ran[0], JobState.WAITING)
        assert (again.tries, again.finished_ms) == (1, None)
        (held,) = await claim(store, kinds, clock.at_ms + 60_000)
        await store.write(restart)
        await ended(store, held, JobState.RUNNING)


# Leases


async def test_a_lease_is_renewed_for_as_long_as_the_handler_runs_also_when_the_clock_jumps(url: str) -> None:
    finish = asyncio.Event()

    async def wait_for_it(job: Job) -> None:
        await finish.wait()

    handler, clock = Handled(wait_for_it), Clock()
    async with opened(url) as store:

        async def renewed() -> bool:
            return (await look(store, handler.ran[0])).lease_until_ms == clock.at_ms + 60

        await enqueue(store, "k")
        async with running(runner(store, clock, greeting(handler, lease_ms=60))):
            await handler.until_ran(1)
            for _ in range(3):
                clock.at_ms += DAY_MS
                await store.until(renewed)
            finish.set()
            await store.until_state(JobState.DONE)
    assert handler.keys == ["k"]


async def test_a_handler_whose_job_was_taken_over_is_cancelled(url: str) -> None:
    cancelled = asyncio.Event()

    async def hang(job: Job) -> None:
        try:
            await forever(job)
        finally:
            cancelled.set()

    handler = Handled(hang)
    kinds = greeting(handler, lease_ms=60)
    async with opened(url) as store:
        await enqueue(store, "k")
        async with running(runner(store, Clock(), kinds)):
            await handler.until_ran(1)
            (taken,) = await claim(store, kinds, NOON + 60, worker="other")
            async with asyncio.timeout(DEADLINE_SECONDS):
                await cancelled.wait()
        assert await look(store, taken) == taken


async def test_a_handler_may_complete_its_job_in_the_transaction_of_its_effect(url: str) -> None:
    async with opened(url) as store:

        async def effect(job: Job) -> bool:
            def transaction() -> Transaction[None]:
                yield from jobs.enqueue(WORKSPACE, "effect", job.key, {}, due_ms=NOON, now_ms=NOON)
                yield from jobs.complete_with_work(job, NOON)

            await store.write(transaction)
            return True

        handler = Handled(effect)
        await enqueue(store, "k")
        clock = Clock(NOON + 5)
        assert await runner(store, clock, greeting(handler)).run_due_once() == 1
        done = await ended(store, handler.ran[0], JobState.DONE)
        assert (done.finished_ms, done.last_error) == (NOON, None)
        assert await store.read(ask("SELECT key FROM jobs WHERE kind = 'effect'")) == [("k",)]


async def test_the_effect_of_a_handler_that_lost_its_job_is_rolled_back(url: str) -> None:
    async with opened(url) as store:
        taken: list[Job] = []

        async def effect(job: Job) -> bool:
            def transaction() -> Transaction[None]:
                yield from jobs.enqueue(WORKSPACE, "effect", job.key, {}, due_ms=NOON, now_ms=NOON)
                yield from jobs.complete_with_work(job, NOON)

            taken.extend(await claim(store, kinds, NOON + LEASE_MS, worker="other"))
            await store.write(transaction)
            return True

        kinds = greeting(Handled(effect))
        await enqueue(store, "k")
        assert await runner(store, Clock(), kinds).run_due_once() == 1
        assert await look(store, taken[0]) == taken[0]
        assert await store.read(ask("SELECT key FROM jobs WHERE kind = 'effect'")) == []


# A store that goes away


async def test_a_store_that_is_away_is_waited_for(url: str) -> None:
    handler = Handled()
    async with opened(url) as store:
        await enqueue(store, "k")
        store.unplug()
        async with running(runner(store, Clock(), greeting(handler))):
            await store.until_refused(3)
            assert handler.ran == []
            store.plug()
            await handler.until_ran(1)
            await store.until_state(JobState.DONE)


async def test_an_error_that_nobody_expected_does_not_end_the_runner(url: str) -> None:
    handler = Handled()
    async with opened(url) as store:
        await enqueue(store, "k")
        store.fault = RuntimeError("a bug")
        async with running(runner(store, Clock(), greeting(handler))):
            await store.until_refused(2)
            store.plug()
            await store.until_state(JobState.DONE)


async def test_the_end_of_a_job_is_recorded_once_the_store_is_back(url: str) -> None:
    async with opened(url) as store:

        async def unplug(job: Job) -> None:
            store.unplug()

        handler = Handled(unplug)
        await enqueue(store, "k")
        async with running(runner(store, Clock(), greeting(handler))):
            await store.until_refused(3)
            store.plug()
            await store.until_state(JobState.DONE)
        assert handler.keys == ["k"]


async def test_jobs_whose_end_cannot_be_recorded_keep_no_other_from_running(url: str) -> None:
    """A server of several is away with their rows, and the rest of the store answers."""
    async with opened(url) as store:

        class InPart(Watched):
            away = True

            async def write(self, begin: Begin[T]) -> T:
                work: Any = begin
                ends = getattr(work, "func", None) is jobs.complete
                if self.away and ends and work.args[0].key == "lost":
                    self.refused += 1
                    raise StoreUnavailable("this server is away")
                return await super().write(begin)

        part, handler, clock = InPart(store), Handled(), Clock()
        await enqueue(store, "lost")
        async with running(runner(part, clock, greeting(handler), concurrency=1)):
            await handler.until_ran(1)
            await enqueue(store, "here")
            await handler.until_ran(2)
            await store.until_state(JobState.DONE)
            assert part.refused > 0
            clock.at_ms += 2 * LEASE_MS
            await enqueue(store, "later", due_ms=clock.at_ms)
            await handler.until_ran(3)
            part.away = False
            await store.until_state(JobState.DONE, 3)
        assert handler.keys == ["lost", "here", "later"]


async def test_a_lease_that_could_not_be_renewed_for_a_while_is_kept_if_nobody_took_it(url: str) -> None:
    finish = asyncio.Event()

    async def wait_for_it(job: Job) -> None:
        await finish.wait()

    handler = Handled(wait_for_it)
    async with opened(url) as store:
        await enqueue(store, "k")
        async with running(runner(store, Clock(), greeting(handler, lease_ms=60))):
            await handler.until_ran(1)
            store.unplug()
            await store.until_refused(5)
            store.plug()
            finish.set()
            await store.until_state(JobState.DONE)
    assert handler.keys == ["k"]


async def test_a_handler_that_finds_the_store_away_has_not_used_an_attempt(url: str) -> None:
    async def unavailable(job: Job) -> None:
        if len(handler.ran) < 3:
            raise StoreUnavailable("away")

    handler, clock = Handled(unavailable), Clock()
    async with opened(url) as store:
        await enqueue(store, "k")
        subject = runner(store, clock, greeting(handler))
        for _ in range(3):
            assert await subject.run_due_once() == 1
            assert await subject.run_due_once() == 0
            clock.at_ms += 1_000
        assert (await ended(store, handler.ran[0], JobState.DONE)).attempts == 1


# Stopping


async def test_a_stopping_runner_lets_its_jobs_finish_and_claims_no_more(url: str) -> None:
    stopping = asyncio.Event()

    async def finish_later(job: Job) -> None:
        await stopping.wait()

    handler = Handled(finish_later)
    async with opened(url) as store:
        await enqueue(store, "a")
        subject = runner(store, Clock(), greeting(handler), concurrency=1)
        task = asyncio.create_task(subject.run())
        await handler.until_ran(1)
        await enqueue(store, "b")
        subject.stop()
        stopping.set()
        async with asyncio.timeout(DEADLINE_SECONDS):
            await task
        states = await store.read(ask("SELECT key, state FROM jobs ORDER BY key"))
        assert states == [("a", "done"), ("b", "waiting")]


async def test_an_idle_runner_stops_at_once(url: str) -> None:
    async with opened(url) as store:

        async def looked() -> bool:
            return store.answered > 0

        async with running(runner(store, Clock(), greeting(Handled()), poll_ms=NEVER_MS)):
            await store.until(looked)


async def test_a_job_that_outlasts_the_grace_is_given_back_to_run_elsewhere_at_once(url: str) -> None:
    handler, other = Handled(forever), Handled()
    async with opened(url) as store:
        await enqueue(store, "k")
        async with running(runner(store, Clock(), greeting(handler), grace_seconds=0)):
            await handler.until_ran(1)
        waiting = await ended(store, handler.ran[0], JobState.WAITING)
        assert (waiting.attempts, waiting.last_error) == (0, None)
        assert await runner(store, Clock(), greeting(other)).run_due_once() == 1


async def test_a_runner_stops_while_the_store_is_away(url: str) -> None:
    async with opened(url) as store:

        async def unplug(job: Job) -> None:
            store.unplug()

        handler = Handled(unplug)
        await enqueue(store, "k")
        async with running(runner(store, Clock(), greeting(handler), poll_ms=NEVER_MS)):
            await store.until_refused(1)
        store.plug()
        assert (await look(store, handler.ran[0])).state is JobState.RUNNING


# Repeating kinds


async def test_a_repeating_kind_runs_each_period_also_after_a_failure(url: str) -> None:
    async def fail_at_first(job: Job) -> None:
        if len(handler.ran) == 1:
            raise JobFailed("once")

    period_ms = 100_000
    handler, clock = Handled(fail_at_first), Clock(10 * period_ms + 1)
    kinds = greeting(handler, every_ms=period_ms)
    async with opened(url) as store:
        async with running(runner(store, clock, kinds)):
            await store.until_state(JobState.WAITING)
        subject = runner(store, clock, kinds)
        assert await subject.run_due_once() == 0
        for period in (11, 12, 13):
            clock.at_ms = period * period_ms
            assert [await subject.run_due_once(), await subject.run_due_once()] == [1, 0]
        assert [job.due_ms // period_ms for job in handler.ran] == [11, 12, 13]
        assert {job.workspace_id for job in handler.ran} == {SYSTEM_WORKSPACE}


async def test_periods_that_passed_while_nothing_ran_are_run_once(url: str) -> None:
    period_ms = 100_000
    handler, clock = Handled(), Clock(10 * period_ms)
    kinds = greeting(handler, every_ms=period_ms)
    async with opened(url) as store:
        for now_ms in (10 * period_ms, 50 * period_ms):
            clock.at_ms = now_ms
            async with running(runner(store, clock, kinds)):
                await store.until_state(JobState.WAITING)
        subject = runner(store, clock, kinds)
        while await subject.run_due_once():
            pass
        assert await next_ready(store, kinds) == 51 * period_ms
    assert [job.due_ms // period_ms for job in handler.ran] == [11]


# A clock that is set back leaves no job behind it


BACK_MS = 2 * HOUR_MS


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
