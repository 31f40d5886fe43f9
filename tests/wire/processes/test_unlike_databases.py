"""The loop, jobs and approvals on databases that are not as usual: behind a pooler, and partitioned by workspace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

import asyncpg
import pytest
from tests.support.actions.fixtures import gate_over
from tests.support.actions.kit import EXECUTE, REJECT, Gate
from tests.support.actions.provider import providers
from tests.support.postgres_server import Server
from tests.support.sqlite_files import list_components
from tests.support.stores.pooler import pooled

from assent.engine.core import jobs
from assent.gate.policy import PRESETS
from assent.gate.records import Assurance
from assent.kernel.limits import HOUR_MS
from assent.kernel.times import iso_time
from assent.sql.schema import REFERENCE_TABLES
from assent.stores.migrate import migrate

pytestmark = pytest.mark.slow

PARTITIONS = 4


async def partition(url: str) -> int:
    """Make every table that is spread by workspace again, in hash partitions. Returns their number."""
    await migrate(url, 0, list_components())
    connection = await asyncpg.connect(url)
    names = [
        row[0]
        for row in await connection.fetch(
            "SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'"
        )
        if row[0] not in REFERENCE_TABLES
    ]
    for name in names:
        await connection.execute(f"ALTER TABLE {name} RENAME TO plain")
        await connection.execute(
            f"CREATE TABLE {name} (LIKE plain INCLUDING ALL) PARTITION BY HASH (workspace_id); DROP TABLE plain"
        )
        for number in range(PARTITIONS):
            await connection.execute(
                f"CREATE TABLE {name}_{number} PARTITION OF {name} "
                f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
            )
    await connection.close()
    return len(names)


@pytest.fixture(params=["partitioned", "pooled"])
def unlike_url(request: pytest.FixtureRequest, postgres_server: Server) -> Iterator[str]:
    partitioned = request.param == "partitioned"
    url = postgres_server.create(migrated=not partitioned)
    if partitioned:
        assert asyncio.run(partition(url)) > 60
    with nullcontext(url) if partitioned else pooled(url) as reached:
        yield reached
    postgres_server.drop(url)


@asynccontextmanager
async def over(url: str, tmp_path: Path) -> AsyncIterator[Gate]:
    gate = gate_over(url, tmp_path, "http", providers())
    try:
        yield gate
    finally:
        await gate.close()


async def play(gate: Gate) -> None:
    """The life of some actions of a new workspace: one approval, two people, races, a time, a no, jobs, the journal."""
    await gate.sign_in()
    sent = await gate.approved()
    answers = await gate.gather(8, EXECUTE, {"actionId": sent})
    assert [each.is_error for each in answers].count(False) >= 1
    assert await gate.where(sent) == "executed"

    await gate.set_policy(PRESETS["two_people"])
    shared = await gate.staged(severity="high")
    await gate.approve_as(Assurance.PERSON, shared, "Ada")
    assert (await gate.denied(EXECUTE, actionId=shared))["reason"] == "requires_approval"
    await gate.approve_as(Assurance.PERSON, shared, "Grace")
    await gate.done(EXECUTE, actionId=shared)

    await gate.set_policy(PRESETS["relay"])
    refused = await gate.staged()
    await gate.done(REJECT, actionId=refused, reason="not now")
    assert (await gate.denied(EXECUTE, actionId=refused))["reason"] == "requires_approval"
    scheduled = await gate.approved(scheduleFor=iso_time(gate.clock.now_ms() + HOUR_MS))
    gate.clock.advance(days=2)
    assert await gate.run_jobs() > 0
    assert await gate.where(scheduled) == "executed"
    assert [job.last_error for job in await gate.app.store.read(lambda: jobs.list_dead(9))] == []
    assert (await gate.app.services.verify_journal(None)).ok


async def test_three_workspaces_live_a_whole_life(unlike_url: str, tmp_path: Path) -> None:
    async with over(unlike_url, tmp_path) as gate:
        for _ in range(3):
            await play(gate)
        assert sum(len(each.ledger) for each in gate.providers.values()) == 9
