"""Half a million jobs due tomorrow do not slow the one due now."""

from __future__ import annotations

import statistics
import time
from functools import partial

import pytest
from msgspec.structs import astuple
from tests.support.jobs.kit import (
    NOON,
    Clock,
    Handled,
    Watched,
    ask,
    claim,
    enqueue,
    greeting,
    next_ready,
    opened,
    runner,
)

from assent.engine.core import jobs
from assent.kernel.limits import DAY_MS
from assent.ports import Begin
from assent.sql.loader import statements

pytestmark = pytest.mark.slow

MANY = 500_000
ROUNDS = 31
SLOWDOWN = 8.0
"""What one job may take beside the many, as a multiple of what it takes alone. A scan would be a hundred."""

COLUMNS = "workspace_id, job_id, kind, key, payload, due_ms, state, attempts, fence, created_ms"
NUMBERED = (
    f"'w', CAST(n AS text), 'greet', CAST(n AS text), '{{}}', {NOON + DAY_MS} + n, 'waiting', 0, 0, {NOON}"
)
BATCH = MANY // 5
"""As many as one statement inserts within its time on a busy machine."""


def insert_many(first: int) -> Begin[list[tuple[object, ...]]]:
    last = first + BATCH - 1
    return ask(
        f"""INSERT INTO jobs ({COLUMNS})
            WITH RECURSIVE numbers (n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM numbers WHERE n < {last})
            SELECT {NUMBERED} FROM numbers""",
        f"INSERT INTO jobs ({COLUMNS}) SELECT {NUMBERED} FROM generate_series({first}, {last}) AS n",
    )


async def median_seconds(store: Watched, handler: Handled, series: str) -> float:
    """Look, claim and complete one due job, many times; the middle one, so that no hiccup counts."""
    kinds, took = greeting(handler), []
    for n in range(ROUNDS):
        await enqueue(store, f"{series}{n}")
        started = time.perf_counter()
        assert await next_ready(store, kinds) == NOON
        (job,) = await claim(store, kinds, NOON, 8)
        assert await store.write(partial(jobs.complete, job, NOON))
        took.append(time.perf_counter() - started)
    return statistics.median(took)


def explained(name: str, dialect: str, **values: object) -> Begin[list[tuple[object, ...]]]:
    bound = getattr(statements, name)(**values)
    word = {"sqlite": "EXPLAIN QUERY PLAN", "postgres": "EXPLAIN"}[dialect]
    return ask(f"{word} {bound.statement.sqlite}", f"{word} {bound.statement.postgres}", astuple(bound))


async def test_half_a_million_jobs_due_tomorrow_do_not_slow_the_one_due_now(url: str) -> None:
    handler = Handled()
    async with opened(url) as store:
        alone = await median_seconds(store, handler, "a")
        # The worst moment for the many to come: everything known about the table says that it is small.
        await store.write(ask("ANALYZE jobs"))
        await median_seconds(store, handler, "small")
        for first in range(1, MANY + 1, BATCH):
            await store.write(insert_many(first))
        beside_many = await median_seconds(store, handler, "b")
        assert beside_many < alone * SLOWDOWN

        leases = '{"greet": 1000}'
        looking = explained("list_ready_jobs", store.dialect, leases=leases, most=32)
        assert "jobs_by_readiness" in str(await store.read(looking))
        ahead = explained("list_jobs_ahead", store.dialect, now_ms=NOON, most=jobs.MOST_MISPLACED)
        assert "jobs_ahead" in str(await store.read(ahead))

        await enqueue(store, "due")
        assert await runner(store, Clock(), greeting(handler)).run_due_once() == 1
        assert handler.keys == ["due"]
