"""A freeze: no path sends, everything else goes on, and no claim gets past it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.engine.actions.kit import APPROVE, EXECUTE, EXECUTORS, Gate
from tests.own_sql import bind_marks
from tests.processes.running import DEADLINE_SECONDS

from assent.cli.operating.freeze import stop_sending
from assent.engine.actions import execution
from assent.engine.actions.execution import EXECUTE_TOOL, ExecutionOrder
from assent.engine.core import freezes
from assent.gate.records import Assurance
from assent.kernel.ids import SYSTEM_WORKSPACE, ActionId, WorkspaceId
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.times import iso_time
from assent.ports import Rows, Transaction


async def freeze(surface: Gate, where: WorkspaceId | None = None, why: str = "a wrong price") -> None:
    now_ms, scope = surface.clock.now_ms(), where or surface.workspace_id
    assert await surface.app.store.write(lambda: freezes.freeze(scope, now_ms, by="test", why=why))


async def unfreeze(surface: Gate, where: WorkspaceId | None = None) -> None:
    now_ms, scope = surface.clock.now_ms(), where or surface.workspace_id
    assert await surface.app.store.write(lambda: freezes.unfreeze(scope, now_ms, by="test")) is not None


async def test_every_executor_is_refused_and_the_approval_stays(surface: Gate) -> None:
    action_id = await surface.approved(connector="unaware")
    sent_before = await surface.approved(connector="unaware", body="Sent before it was stopped, on Tuesday.")
    first = await surface.done(EXECUTE, actionId=sent_before, idempotencyKey="before the freeze")
    await freeze(surface)
    for tool in EXECUTORS:
        answer = await surface.denied(tool, actionId=action_id)
        assert (answer["reason"], answer["retry"], answer["statusCode"]) == ("frozen", "never", 423)
        assert "a wrong price" in answer["userMessage"]
    order = ExecutionOrder(
        workspace_id=surface.workspace_id, action_id=ActionId(action_id), tool=EXECUTE_TOOL, by="test"
    )
    with pytest.raises(Refusal) as refused:
        await execution.hand_out(surface.app.owner_services, order)
    assert refused.value.reason is Reason.FROZEN
    assert surface.calls == 1
    again = await surface.done(EXECUTE, actionId=sent_before, idempotencyKey="before the freeze")
    assert again["externalId"] == first["externalId"]
    await unfreeze(surface)
    await surface.done(EXECUTE, actionId=action_id)
    assert len(surface.ledger) == surface.calls == 2


async def test_what_is_scheduled_or_sent_from_a_page_waits_and_goes_out_afterwards(surface: Gate) -> None:
    due = iso_time(surface.clock.now_ms() + 3_600_000)
    scheduled = await surface.approved(connector="unaware", scheduleFor=due)
    pressed = await surface.staged(connector="unaware", body="The importer reads UTF-16 since Wednesday.")
    await freeze(surface)
    await surface.approve_as(Assurance.PERSON, pressed, send_now=True)
    for _ in range(20):
        await surface.run_jobs()
        surface.clock.advance(hours=1)
    assert surface.calls == 0
    assert [await surface.where(each) for each in (scheduled, pressed)] == ["approved", "approved"]
    await unfreeze(surface)
    await surface.run_jobs()
    assert len(surface.ledger) == surface.calls == 2


async def test_an_unknown_outcome_is_not_repeated_before_the_freeze_ends(surface: Gate) -> None:
    action_id = await surface.bring_to("outcome_unknown", connector="natural")
    calls = surface.calls
    await freeze(surface)
    for _ in range(10):
        surface.clock.advance(seconds=600)
        await surface.run_jobs()
    assert surface.calls == calls
    assert await surface.where(action_id) == "outcome_unknown"
    await unfreeze(surface)
    surface.clock.advance(seconds=60)
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"


async def test_preparing_reading_approving_and_other_workspaces_go_on(surface: Gate) -> None:
    await freeze(surface)
    action_id = await surface.staged(connector="unaware")
    await surface.done(APPROVE, actionId=action_id)
    assert (await surface.record(action_id))["status"] == "approved"
    waiting = await surface.denied(
        EXECUTE, actionId=await surface.staged(body="A second text, not approved.")
    )
    assert waiting["reason"] == "requires_approval"
    frozen_id = surface.workspace_id
    surface.workspace_id = (await surface.sign_in()).workspace_id
    assert surface.workspace_id != frozen_id
    elsewhere = await surface.approved(connector="unaware")
    await surface.done(EXECUTE, actionId=elsewhere)
    assert surface.calls == 1


@pytest.mark.own_database
async def test_a_freeze_of_the_server_holds_in_every_workspace_and_is_in_the_journal(surface: Gate) -> None:
    action_id = await surface.approved(connector="unaware")
    await freeze(surface, SYSTEM_WORKSPACE)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "frozen"
    await freeze(surface)
    await unfreeze(surface, SYSTEM_WORKSPACE)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "frozen"
    await unfreeze(surface)
    await surface.done(EXECUTE, actionId=action_id)

    def events() -> Transaction[Rows]:
        return (yield bind_marks("SELECT kind FROM events WHERE kind LIKE 'sending_%' ORDER BY at_ms, kind"))

    rows = await surface.app.store.read(events)
    assert sorted(row["kind"] for row in rows) == ["sending_frozen"] * 2 + ["sending_resumed"] * 2
    assert (await surface.app.owner_services.verify_journal(None)).ok


async def test_after_the_command_returns_no_claim_commits(surface: Gate) -> None:
    """Claims and the freeze at the same time, again and again."""
    for turn in range(3):
        ids = [
            await surface.approved(connector="unaware", body=f"Note {turn}.{each} about the importer.")
            for each in range(8)
        ]

        async def execute(action_id: str, after: int) -> None:
            for _ in range(after):
                await asyncio.sleep(0)
            await surface.ask(EXECUTE, actionId=action_id)

        claims = [asyncio.create_task(execute(each, 15 * place)) for place, each in enumerate(ids)]
        done = await stop_sending(surface.app, surface.workspace_id, "", why="")
        assert done.in_effect
        claimed = {each for each in ids if (await surface.stored(each)).attempt is not None}
        await asyncio.gather(*claims)
        assert {each for each in ids if (await surface.stored(each)).attempt is not None} == claimed
        await unfreeze(surface)


async def until(look: Callable[[], Awaitable[Any]]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not await look():  # noqa: ASYNC110 - the state of the database
            await asyncio.sleep(0.005)


@pytest.mark.own_database
async def test_the_command_waits_for_a_claim_that_judged_before_it(surface: Gate) -> None:
    if surface.app.store.dialect != "postgres":
        return  # one writer: a claim is over before the freeze is stored
    import asyncpg

    action_id = await surface.approved(connector="unaware")
    run_id = (await surface.stored(action_id)).run_id
    other = await asyncpg.connect(surface.app.settings.database_url)
    try:
        block = other.transaction()
        await block.start()
        await other.fetch("SELECT seq FROM streams WHERE stream_id = $1 FOR UPDATE", run_id)
        claim = asyncio.create_task(surface.ask(EXECUTE, actionId=action_id))
        waiting = (
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        await until(lambda: other.fetchval(waiting))
        stopping = asyncio.create_task(stop_sending(surface.app, surface.workspace_id, "", why=""))
        await until(lambda: other.fetchval("SELECT count(*) FROM freezes"))
        assert not stopping.done()
        await block.commit()
        assert (await stopping).in_effect
        assert (await surface.stored(action_id)).attempt is not None
        await claim
        assert len(surface.ledger) == 1
    finally:
        await other.close()
