"""What the table promises: the outbox, unique keys, claims with a lease and a fence, retries, and the end."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from tests.support.jobs.kit import (
    LEASE_MS,
    NOON,
    WORKSPACE,
    Handled,
    ask,
    claim,
    enqueue,
    greeting,
    look,
    next_ready,
    opened,
)

from assent.engine.core import jobs
from assent.engine.core.jobs import Job, JobKind, JobState
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import DAY_MS, HOUR_MS, JOB_RETENTION_MS
from assent.ports import Store, Transaction

KINDS = greeting(Handled(), 1_000, 5_000)
DELAYS = KINDS["greet"].retry_delays_ms


class ChangedMyMind(Exception):  # noqa: N818 - what the test does
    pass


async def test_a_job_of_a_rolled_back_transaction_does_not_exist(url: str) -> None:
    def cause() -> Transaction[None]:
        yield from jobs.enqueue(WORKSPACE, "greet", "k", {}, due_ms=NOON, now_ms=NOON)
        raise ChangedMyMind

    async with opened(url) as store:
        with pytest.raises(ChangedMyMind):
            await store.write(cause)
        assert await claim(store, KINDS, NOON) == []
        assert await enqueue(store, "k")


async def test_a_claimed_job_is_what_was_enqueued(url: str) -> None:
    async with opened(url) as store:
        assert await enqueue(store, "k", who="ö", times=[1, 2])
        (job,) = await claim(store, KINDS, NOON + 5, worker="w1")
        assert job == Job(
            workspace_id=WORKSPACE,
            job_id=job.job_id,
            kind="greet",
            key="k",
            payload={"who": "ö", "times": [1, 2]},
            due_ms=NOON,
            state=JobState.RUNNING,
            attempts=1,
            lease_until_ms=NOON + 5 + LEASE_MS,
            fence=1,
            worker="w1",
            last_error=None,
            created_ms=NOON,
            finished_ms=None,
        )
        assert await look(store, job) == job


async def test_a_key_is_enqueued_once_for_as_long_as_it_is_kept(url: str) -> None:
    async with opened(url) as store:
        assert [await enqueue(store, "k"), await enqueue(store, "k")] == [True, False]
        (job,) = await claim(store, KINDS, NOON)
        assert not await enqueue(store, "k")
        assert await store.write(partial(jobs.complete, job, NOON))
        assert not await enqueue(store, "k")
        last_kept_ms = NOON + JOB_RETENTION_MS - 1
        assert await store.write(partial(jobs.purge_finished, last_kept_ms, 10)) == 0
        assert not await enqueue(store, "k")
        assert await store.write(partial(jobs.purge_finished, last_kept_ms + 1, 10)) == 1
        assert await enqueue(store, "k")


async def test_a_key_belongs_to_its_workspace_and_kind(url: str) -> None:
    other = WorkspaceId("0190a000-0000-7000-8000-00000000000b")
    async with opened(url) as store:
        for workspace_id, kind in ((WORKSPACE, "greet"), (WORKSPACE, "part"), (other, "greet")):
            one = partial(jobs.enqueue, workspace_id, kind, "k", {}, due_ms=NOON, now_ms=NOON)
            assert await store.write(one)
            assert not await store.write(one)


async def test_racing_enqueues_of_one_key_insert_one_job(url: str) -> None:
    async with opened(url) as store:
        for key in map(str, range(30)):
            inserted = await asyncio.gather(*(enqueue(store, key) for _ in range(10)))
            assert sorted(inserted) == [False] * 9 + [True]
        assert len(await claim(store, KINDS, NOON, most=100)) == 30


async def test_nothing_is_claimed_before_it_is_due_also_after_a_restart(url: str) -> None:
    tomorrow = NOON + DAY_MS
    async with opened(url) as store:
        await enqueue(store, "k", due_ms=tomorrow)
    async with opened(url) as store:
        assert await next_ready(store, KINDS) == tomorrow
        assert await claim(store, KINDS, tomorrow - 1) == []
        assert [job.key for job in await claim(store, KINDS, tomorrow)] == ["k"]


async def test_the_longest_ready_are_claimed_first_and_no_more_than_asked(url: str) -> None:
    async with opened(url) as store:
        for key, late_ms in (("c", 3), ("a", 1), ("d", 4), ("b", 2)):
            await enqueue(store, key, due_ms=NOON + late_ms)
        assert [job.key for job in await claim(store, KINDS, NOON + 9, most=3)] == ["a", "b", "c"]
        assert [job.key for job in await claim(store, KINDS, NOON + 9, most=3)] == ["d"]


async def test_jobs_of_kinds_that_a_runner_does_not_know_are_left_to_others(url: str) -> None:
    others = {"part": JobKind(Handled())}
    async with opened(url) as store:
        await enqueue(store, "k")
        assert await claim(store, others, NOON) == []
        assert await next_ready(store, others) is None
        assert len(await claim(store, KINDS | others, NOON)) == 1


async def test_each_kind_has_its_own_lease(url: str) -> None:
    kinds = {name: JobKind(Handled(), lease_ms=ms) for name, ms in (("a.b", 1_000), ('$[0]"', 2_000))}
    async with opened(url) as store:
        for kind in kinds:
            await store.write(partial(jobs.enqueue, WORKSPACE, kind, "k", {}, due_ms=NOON, now_ms=NOON))
        leases = {job.kind: job.lease_until_ms for job in await claim(store, kinds, NOON)}
        assert leases == {"a.b": NOON + 1_000, '$[0]"': NOON + 2_000}


async def test_racing_claims_give_every_job_to_one_worker(url: str) -> None:
    async with opened(url) as store:
        for n in range(40):
            await enqueue(store, str(n))
        batches = await asyncio.gather(*(claim(store, KINDS, NOON, 3, f"w{n}") for n in range(20)))
        keys = [job.key for batch in batches for job in batch]
        while more := await claim(store, KINDS, NOON, 3):
            keys += [job.key for job in more]
        assert sorted(keys, key=int) == [str(n) for n in range(40)]


async def test_a_job_is_taken_over_when_its_lease_ends_and_not_before(url: str) -> None:
    async with opened(url) as store:
        await enqueue(store, "k")
        (first,) = await claim(store, KINDS, NOON, worker="w1")
        assert await next_ready(store, KINDS) == NOON + LEASE_MS
        assert await claim(store, KINDS, NOON + LEASE_MS - 1) == []
        (second,) = await claim(store, KINDS, NOON + LEASE_MS, worker="w2")
        assert (second.job_id, second.fence, second.attempts) == (first.job_id, 2, 2)
        assert (second.worker, second.last_error) == ("w2", jobs.LOST)


async def test_a_worker_that_lost_its_job_changes_nothing(url: str) -> None:
    async with opened(url) as store:
        await enqueue(store, "k")
        (lost,) = await claim(store, KINDS, NOON)
        (held,) = await claim(store, KINDS, NOON + LEASE_MS)
        late_ms = NOON + LEASE_MS + 1
        assert not await store.write(partial(jobs.renew, lost, late_ms + LEASE_MS))
        assert not await store.write(partial(jobs.complete, lost, late_ms))
        assert await store.write(partial(jobs.fail, lost, late_ms, "late", DELAYS)) is None
        assert not await store.write(partial(jobs.release, lost, late_ms))
        assert await look(store, held) == held
        assert await store.write(partial(jobs.complete, held, late_ms))
        done = await look(store, held)
        assert not await store.write(partial(jobs.fail, held, late_ms, "twice", DELAYS))
        assert await look(store, held) == done


async def test_a_renewed_lease_is_not_taken_over(url: str) -> None:
    async with opened(url) as store:
        await enqueue(store, "k")
        (job,) = await claim(store, KINDS, NOON)
        assert await store.write(partial(jobs.renew, job, NOON + 2 * LEASE_MS - 1))
        assert await claim(store, KINDS, NOON + LEASE_MS) == []
        assert len(await claim(store, KINDS, NOON + 2 * LEASE_MS - 1)) == 1


async def test_a_failing_job_waits_by_its_schedule_and_then_is_dead_and_listed(url: str) -> None:
    async with opened(url) as store:
        await enqueue(store, "k")
        now_ms = NOON
        for attempt, delay_ms in enumerate(DELAYS, 1):
            (job,) = await claim(store, KINDS, now_ms)
            assert job.attempts == attempt
            failing = partial(jobs.fail, job, now_ms, f"failure {attempt}", DELAYS)
            assert await store.write(failing) is JobState.WAITING
            assert await store.read(partial(jobs.list_dead, 10)) == []
            assert await claim(store, KINDS, now_ms + delay_ms - 1) == []
            now_ms += delay_ms
        (job,) = await claim(store, KINDS, now_ms)
        assert await store.write(partial(jobs.fail, job, now_ms, "x" * 9_999, DELAYS)) is JobState.DEAD
        assert await next_ready(store, KINDS) is None
        (dead,) = await store.read(partial(jobs.list_dead, 10))
        assert (dead.state, dead.attempts, dead.finished_ms) == (JobState.DEAD, 3, now_ms)
        assert dead.last_error == "x" * jobs.MAX_ERROR_CHARS


async def dead_job(store: Store, key: str) -> Job:
    await enqueue(store, key)
    (job,) = await claim(store, KINDS, NOON)
    assert await store.write(partial(jobs.fail, job, NOON, "no", ())) is JobState.DEAD
    return job


async def test_a_dead_job_is_not_removed_by_retention(url: str) -> None:
    much_later_ms = NOON + 10 * JOB_RETENTION_MS
    async with opened(url) as store:
        dead = await dead_job(store, "k")
        assert await store.write(partial(jobs.purge_finished, much_later_ms, 10)) == 0
        assert (await look(store, dead)).state is JobState.DEAD


async def test_a_job_given_back_has_not_used_an_attempt(url: str) -> None:
    async with opened(url) as store:
        await enqueue(store, "k")
        (job,) = await claim(store, KINDS, NOON)
        assert await store.write(partial(jobs.release, job, NOON + 7))
        assert await claim(store, KINDS, NOON + 6) == []
        (again,) = await claim(store, KINDS, NOON + 7)
        assert (again.attempts, again.fence) == (1, 2)


async def test_purging_removes_no_more_than_asked_oldest_first(url: str) -> None:
    async with opened(url) as store:
        for n in range(5):
            await enqueue(store, str(n))
        claimed = await claim(store, KINDS, NOON)
        for late_ms, job in enumerate(claimed):
            await store.write(partial(jobs.complete, job, NOON + late_ms))
        purge = partial(jobs.purge_finished, NOON + JOB_RETENTION_MS + 3, 3)
        assert [await store.write(purge), await store.write(purge)] == [3, 1]
        assert await store.read(ask("SELECT key FROM jobs")) == [(claimed[4].key,)]


async def test_the_next_occurrence_of_a_repeating_kind_is_at_the_next_full_period_and_only_once(
    url: str,
) -> None:
    kinds = {"sweep": JobKind(Handled())}
    async with opened(url) as store:
        inserted = [
            await store.write(partial(jobs.enqueue_next, "sweep", HOUR_MS, now_ms))
            for now_ms in (10 * HOUR_MS, 10 * HOUR_MS + 1, 11 * HOUR_MS - 1, 11 * HOUR_MS)
        ]
        assert inserted == [True, False, False, True]
        found = await claim(store, kinds, 12 * HOUR_MS)
        assert [(job.workspace_id, job.due_ms) for job in found] == [
            (SYSTEM_WORKSPACE, 11 * HOUR_MS),
            (SYSTEM_WORKSPACE, 12 * HOUR_MS),
        ]
