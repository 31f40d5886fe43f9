"""Sending without a chat: approve and send now, and what was approved for a later time, as durable jobs."""

from __future__ import annotations

import pytest
from tests.engine.actions.kit import APPROVE, EDIT, EXECUTE, OTHER, REJECT, WITHDRAW, Gate
from tests.engine.actions.provider import lost_after, refused, unreachable

from assent.gate.preflight import Readiness
from assent.gate.records import Assurance
from assent.kernel.times import iso_time

HOUR = 3_600_000


async def scheduled(surface: Gate, in_ms: int = HOUR) -> str:
    """An approved action that goes out by itself."""
    return await surface.approved(scheduleFor=iso_time(surface.clock.now_ms() + in_ms))


async def test_approve_and_send_goes_out_once_and_without_anybody_asking_again(surface: Gate) -> None:
    action_id = await surface.staged(connector="unaware")
    await surface.approve_as(Assurance.PERSON, action_id, send_now=True)
    assert surface.calls == 0
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"
    surface.clock.advance(days=10)
    await surface.run_jobs()
    assert len(surface.ledger) == surface.calls == 1


@pytest.mark.rule("E24")
async def test_an_approval_alone_sends_nothing(surface: Gate) -> None:
    action_id = await surface.approved()
    surface.clock.advance(days=10)
    await surface.run_jobs()
    assert await surface.where(action_id) == "approved"
    assert surface.calls == 0


async def test_a_scheduled_action_goes_out_at_its_time_and_not_before(surface: Gate) -> None:
    action_id = await scheduled(surface)
    surface.clock.advance(seconds=3599.999)
    await surface.run_jobs()
    assert surface.calls == 0
    surface.clock.advance(seconds=0.001)
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"
    assert len(surface.ledger) == 1


@pytest.mark.rule("E5")
async def test_a_schedule_without_an_approval_sends_nothing(surface: Gate) -> None:
    await surface.staged(scheduleFor=iso_time(surface.clock.now_ms() + HOUR))
    surface.clock.advance(days=1)
    await surface.run_jobs()
    assert surface.calls == 0


@pytest.mark.rule("E5", "E66")
@pytest.mark.parametrize("way", [WITHDRAW, EDIT, REJECT])
async def test_what_takes_an_approval_back_stops_its_job(surface: Gate, way: str) -> None:
    action_id = await scheduled(surface)
    more = {WITHDRAW: {}, EDIT: {"body": OTHER}, REJECT: {"reason": "no"}}[way]
    await surface.done(way, actionId=action_id, **more)
    surface.clock.advance(hours=2)
    await surface.run_jobs()
    assert surface.calls == 0


@pytest.mark.rule("E66")
async def test_the_job_of_a_withdrawn_approval_does_not_serve_the_next_one(surface: Gate) -> None:
    """Approved to go out now, taken back, approved again in the chat: nobody asked for that to be sent."""
    action_id = await surface.staged()
    await surface.approve_as(Assurance.PERSON, action_id, send_now=True)
    await surface.done(WITHDRAW, actionId=action_id)
    await surface.done(APPROVE, actionId=action_id)
    await surface.run_jobs()
    assert await surface.where(action_id) == "approved"
    assert surface.calls == 0
    await surface.done(EXECUTE, actionId=action_id)
    assert len(surface.ledger) == 1


async def test_a_confirmation_by_somebody_surer_keeps_the_job(surface: Gate) -> None:
    action_id = await scheduled(surface)
    await surface.approve_as(Assurance.PERSON, action_id)
    surface.clock.advance(hours=1)
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"
    assert len(surface.ledger) == surface.calls == 1


async def test_a_job_finds_its_action_already_sent_and_sends_nothing(surface: Gate) -> None:
    action_id = await scheduled(surface)
    surface.clock.advance(hours=1)
    await surface.done(EXECUTE, actionId=action_id)
    await surface.run_jobs()
    assert len(surface.ledger) == surface.calls == 1


async def test_a_job_tries_again_what_was_definitely_not_sent(surface: Gate) -> None:
    action_id = await scheduled(surface)
    surface.providers["native"].plan.extend([unreachable, unreachable])
    surface.clock.advance(hours=1)
    await surface.run_jobs()
    assert await surface.where(action_id) == "retryable"
    for seconds in (10, 60):
        surface.clock.advance(seconds=seconds)
        await surface.run_jobs()
    assert await surface.where(action_id) == "executed"
    assert (surface.calls, len(surface.ledger)) == (3, 1)


async def test_a_job_waits_for_its_connector(surface: Gate) -> None:
    action_id = await scheduled(surface)
    provider = surface.providers["native"]
    provider.ready = Readiness(False, "missing_connector", "Connect it.")
    surface.clock.advance(hours=1)
    await surface.run_jobs()
    assert await surface.where(action_id) == "approved"
    provider.ready = Readiness(True)
    surface.clock.advance(seconds=10)
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"
    assert len(surface.ledger) == 1


@pytest.mark.rule("E29")
@pytest.mark.parametrize("step", [refused, lost_after], ids=lambda step: step.__name__)
async def test_a_job_does_not_repeat_what_was_refused_or_may_have_happened(
    surface: Gate, step: object
) -> None:
    action_id = await surface.approved(
        connector="unaware", scheduleFor=iso_time(surface.clock.now_ms() + HOUR)
    )
    surface.providers["unaware"].plan.append(step)  # type: ignore[arg-type]
    surface.clock.advance(hours=1)
    await surface.run_jobs()
    for _ in range(6):
        surface.clock.advance(hours=3)
        await surface.run_jobs()
    assert await surface.where(action_id) == ("failed" if step is refused else "outcome_unknown")
    assert surface.calls == 1
