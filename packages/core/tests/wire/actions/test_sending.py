"""Sending without a chat: approve and send now, and what was approved for a later time, as durable jobs."""

from __future__ import annotations

import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, GET, OTHER, REJECT, WITHDRAW, Gate
from tests.support.actions.provider import lost_after, lost_before, refused, slowed, unreachable
from tests.support.answers import calls_of, text_of

from assent.engine.actions import decisions
from assent.gate.gate import SeenVersion
from assent.gate.next_try import RETRY_PAUSES_MS, read_next_try
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Assurance
from assent.kernel.ids import ActionId
from assent.kernel.times import iso_time
from assent.ports import Transaction

HOUR = 3_600_000


async def scheduled(surface: Gate, in_ms: int = HOUR) -> str:
    """An approved action that the server sends without another call."""
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


async def planned(surface: Gate, action_id: str) -> tuple[int, int | None]:
    """How often the server has tried in vain, and in how many milliseconds it tries again."""
    plan = read_next_try(await surface.stored(action_id))
    assert plan is not None
    return plan.tries, plan.at_ms - surface.clock.now_ms() if plan.at_ms is not None else None


async def test_what_failed_in_the_chat_is_tried_again_by_the_server_and_the_answer_says_when(
    surface: Gate,
) -> None:
    action_id = await surface.approved()
    surface.providers["native"].plan.extend([unreachable, unreachable])
    told = await surface.denied(EXECUTE, actionId=action_id, idempotencyKey="once")
    assert (told["reason"], told["retryAfterSeconds"]) == ("connector_failed", RETRY_PAUSES_MS[0] // 1_000)
    for tries, seconds in ((1, 10), (2, 60)):
        assert await planned(surface, action_id) == (tries, seconds * 1_000)
        surface.clock.advance(seconds=seconds)
        await surface.run_jobs()
    assert (await surface.where(action_id), surface.calls, len(surface.ledger)) == ("executed", 3, 1)
    again = await surface.done(EXECUTE, actionId=action_id, idempotencyKey="once")
    assert (again["status"], surface.calls) == ("executed", 3)


async def test_the_server_waits_as_long_as_the_provider_asks_for(surface: Gate) -> None:
    action_id = await surface.approved()
    surface.providers["native"].plan.append(slowed)
    told = await surface.denied(EXECUTE, actionId=action_id)
    assert (told["reason"], told["retryAfterSeconds"]) == ("rate_limited", 17)
    assert await planned(surface, action_id) == (1, 17_000)
    surface.clock.advance(seconds=16)
    await surface.run_jobs()
    assert surface.calls == 1
    surface.clock.advance(seconds=1)
    await surface.run_jobs()
    assert (await surface.where(action_id), surface.calls) == ("executed", 2)


async def test_the_server_stops_trying_after_the_last_pause(surface: Gate) -> None:
    action_id = await surface.approved()
    tries = len(RETRY_PAUSES_MS) + 1
    surface.providers["native"].plan.extend([unreachable] * tries)
    await surface.denied(EXECUTE, actionId=action_id)
    for pause_ms in RETRY_PAUSES_MS:
        surface.clock.advance(seconds=pause_ms / 1_000)
        await surface.run_jobs()
    assert (await surface.where(action_id), surface.calls) == ("retryable", tries)
    surface.clock.advance(days=1)
    await surface.run_jobs()
    assert surface.calls == tries
    assert await planned(surface, action_id) == (tries, None)
    await surface.done(EXECUTE, actionId=action_id)
    assert len(surface.ledger) == 1


@pytest.mark.rule("E5", "E66")
@pytest.mark.parametrize("way", [WITHDRAW, EDIT, REJECT, "withdrawn and approved again"])
async def test_what_takes_an_approval_back_stops_the_next_try(surface: Gate, way: str) -> None:
    action_id = await surface.approved()
    surface.providers["native"].plan.append(unreachable)
    await surface.denied(EXECUTE, actionId=action_id)
    more = {EDIT: {"body": OTHER}, REJECT: {"reason": "no"}}.get(way, {})
    await surface.done(way if way in (EDIT, REJECT) else WITHDRAW, actionId=action_id, **more)
    if way not in (WITHDRAW, EDIT, REJECT):
        await surface.done(APPROVE, actionId=action_id)
    for pause_ms in RETRY_PAUSES_MS:
        surface.clock.advance(seconds=pause_ms / 1_000)
        await surface.run_jobs()
    assert surface.calls == 1


async def test_nothing_is_tried_again_after_it_expired(surface: Gate) -> None:
    action_id = await surface.approved(expiresAt=iso_time(surface.clock.now_ms() + 30_000))
    surface.providers["native"].plan.extend([unreachable, unreachable])
    await surface.denied(EXECUTE, actionId=action_id)
    surface.clock.advance(seconds=10)
    await surface.run_jobs()
    assert await planned(surface, action_id) == (2, None)
    surface.clock.advance(hours=3)
    await surface.run_jobs()
    assert surface.calls == 2


async def test_a_try_that_someone_asked_for_replaces_the_planned_one(surface: Gate) -> None:
    action_id = await surface.approved()
    surface.providers["native"].plan.extend([unreachable, unreachable])
    await surface.denied(EXECUTE, actionId=action_id)
    surface.clock.advance(seconds=5)
    await surface.denied(EXECUTE, actionId=action_id)
    surface.clock.advance(seconds=5)
    await surface.run_jobs()
    assert surface.calls == 2
    surface.clock.advance(seconds=55)
    await surface.run_jobs()
    assert (await surface.where(action_id), surface.calls, len(surface.ledger)) == ("executed", 3, 1)


async def test_a_person_who_sends_it_does_not_wait_for_the_planned_try(surface: Gate) -> None:
    action_id = await surface.approved()
    surface.providers["native"].plan.extend([unreachable, unreachable])
    await surface.denied(EXECUTE, actionId=action_id)
    surface.clock.advance(seconds=10)
    await surface.run_jobs()
    await surface.approve_as(Assurance.PERSON, action_id, send_now=True)
    await surface.run_jobs()
    assert (await surface.where(action_id), surface.calls, len(surface.ledger)) == ("executed", 3, 1)


async def test_what_the_provider_never_got_is_sent_again_by_the_server(surface: Gate) -> None:
    action_id = await surface.approved(connector="readback")
    surface.providers["readback"].plan.append(lost_before)
    await surface.denied(EXECUTE, actionId=action_id)
    surface.clock.advance(seconds=2)
    await surface.run_jobs()
    assert await surface.where(action_id) == "retryable"
    surface.clock.advance(seconds=10)
    await surface.run_jobs()
    assert (await surface.where(action_id), surface.calls, len(surface.ledger)) == ("executed", 2, 1)


@pytest.mark.parametrize("tool", [GET, "chieflab_status", "chieflab_report"])
async def test_what_goes_out_by_itself_is_told_so_and_can_be_withdrawn(surface: Gate, tool: str) -> None:
    action_id, now_ms = await surface.staged(), surface.clock.now_ms()
    shown, seals = SeenVersion(digest=(await surface.stored(action_id)).digest), surface.app.keys.seals
    about = {"actionId": action_id} if tool == GET else {}

    def approve() -> Transaction[Action]:
        return decisions.approve(
            surface.someone(),
            ActionId(action_id),
            shown,
            now_ms,
            seals=seals,
            send_now=True,
            undo_ms=10_000,
        )

    await surface.decide(approve)
    surface.clock.advance(seconds=2)
    told = await surface.done(tool, **about)

    assert f"The server sends it in 8 seconds, at {iso_time(now_ms + 10_000)[11:19]} UTC" in text_of(told)
    assert EXECUTE not in [call["name"] for call in calls_of(told)]
    if tool != "chieflab_report":
        await surface.done(WITHDRAW, **calls_of(told)[0]["args"])
        await surface.done(APPROVE, actionId=action_id)
        again = await surface.done(tool, **about)
        assert "The server sends it" not in text_of(again) and calls_of(again)[0]["name"] == EXECUTE
