"""Repeating jobs with real work: signup links, idempotency records and finished jobs past their time go."""

from __future__ import annotations

from functools import partial

from tests.support.jobs.kit import (
    NOON,
    WORKSPACE,
    Clock,
    Handled,
    Watched,
    ask,
    enqueue,
    greeting,
    opened,
    runner,
    running,
)

from assent.engine.actions import idempotency as once
from assent.engine.core import jobs
from assent.engine.core.jobs import JobKind, JobState
from assent.engine.people import signup
from assent.jobs.worker import Sweep, sweeping
from assent.kernel.ids import WorkspaceId, uuid7
from assent.kernel.limits import DAY_MS, HOUR_MS, IDEMPOTENCY_TTL_MS, JOB_RETENTION_MS, SIGNUP_LINK_TTL_MS
from assent.ports import Store


async def link(store: Store, number: int, now_ms: int) -> str:
    workspace_id = WorkspaceId(uuid7(now_ms, number.to_bytes(10, "big")))
    return await store.write(
        partial(signup.request_signup, workspace_id, bytes([number] * 24), "a@example.com", "A", now_ms)
    )


async def answer(store: Store, key: str, now_ms: int) -> None:
    await store.write(partial(once.remember, WORKSPACE, "tool", key, "digest", "{}", now_ms, holder="key"))


async def recalled(store: Store, key: str, now_ms: int) -> str | None:
    return await store.write(partial(once.recall, WORKSPACE, "tool", key, "digest", now_ms, holder="key"))


async def swept(store: Watched, clock: Clock, sweep: Sweep, batch: int) -> None:
    """Let one repeating kind enqueue itself in a running server, then run at its time."""
    kinds = {"sweep": JobKind(sweeping(store, clock, sweep, batch), every_ms=HOUR_MS)}
    async with running(runner(store, clock, kinds)):
        await store.until_state(JobState.WAITING)
    clock.at_ms = (clock.at_ms // HOUR_MS + 1) * HOUR_MS
    assert await runner(store, clock, kinds).run_due_once() == 1
    assert await store.read(partial(jobs.list_dead, 10)) == []


async def test_expired_signup_links_are_forgotten_and_living_ones_are_kept(url: str) -> None:
    async with opened(url) as store:
        for number in range(5):
            await link(store, number, NOON)
        living = await link(store, 5, NOON + DAY_MS)
        clock = Clock(NOON + SIGNUP_LINK_TTL_MS)
        await swept(store, clock, signup.forget_expired_links, 2)
        assert await store.read(partial(signup.find_signup, living, clock.at_ms)) is not None
        assert await store.read(ask("SELECT count(*) FROM signup_links")) == [(1,)]


async def test_expired_idempotency_records_are_forgotten_and_living_ones_are_kept(url: str) -> None:
    async with opened(url) as store:
        for number in range(5):
            await answer(store, f"old{number}", NOON)
        await answer(store, "new", NOON + DAY_MS)
        clock = Clock(NOON + IDEMPOTENCY_TTL_MS)
        await swept(store, clock, once.forget_expired, 2)
        assert await store.read(ask("SELECT key FROM idempotency")) == [("new",)]
        assert await recalled(store, "new", clock.at_ms) == "{}"


async def test_finished_jobs_go_with_retention(url: str) -> None:
    async with opened(url) as store:
        for key in ("a", "b", "c"):
            await enqueue(store, key)
        await runner(store, Clock(), greeting(Handled())).run_due_once()
        await swept(store, Clock(NOON + JOB_RETENTION_MS), jobs.purge_finished, 2)
        assert await store.read(ask("SELECT kind, state FROM jobs ORDER BY due_ms")) == [
            ("sweep", JobState.DONE.value),
            ("sweep", JobState.WAITING.value),
        ]
