"""When an action goes out is part of what is approved."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from packages.core.tests.wire.actions.test_sending import HOUR
from tests.support.actions.kit import APPROVE, EDIT, OTHER, REJECT, Gate
from tests.support.answers import calls_of, text_of

from assent.kernel.limits import ACTION_TTL_MS, DAY_MS
from assent.kernel.times import full_time, iso_time, zoned_time


def at(surface: Gate, in_ms: int) -> str:
    return iso_time(surface.clock.now_ms() + in_ms)


@pytest.mark.rule("E66")
async def test_a_schedule_moved_after_it_was_shown_makes_the_digest_of_it_stale(surface: Gate) -> None:
    shown = (await surface.run({"scheduleFor": at(surface, 30 * HOUR)}))["actions"][0]
    moved = await surface.done(EDIT, actionId=shown["id"], scheduleFor=at(surface, 3_000))
    assert moved["digest"] != shown["digest"]
    for tool, more in ((APPROVE, {}), (REJECT, {"reason": "no"}), (EDIT, {"body": OTHER})):
        answer = await surface.denied(tool, actionId=shown["id"], digest=shown["digest"], **more)
        assert answer["reason"] == "stale_revision", tool
    surface.clock.advance(hours=40)
    await surface.run_jobs()
    assert (surface.calls, await surface.where(shown["id"])) == (0, "awaiting_approval")


@pytest.mark.parametrize("in_ms", [-365 * DAY_MS, -1, 0, 10 * 366 * DAY_MS])
async def test_a_time_that_is_over_or_years_ahead_is_refused(surface: Gate, in_ms: int) -> None:
    answer = await surface.ask("gate_stage", effects=[{"scheduleFor": at(surface, in_ms)}])
    assert (answer.is_error, answer.reason) == (True, "validation_error")
    assert answer.payload["problems"][0]["path"].endswith("scheduleFor")
    action_id = await surface.approved()
    denied = await surface.denied(EDIT, actionId=action_id, scheduleFor=at(surface, in_ms))
    assert (denied["reason"], denied["problems"][0]["path"]) == ("validation_error", "scheduleFor")
    assert await surface.where(action_id) == "approved"


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
async def test_a_time_at_the_end_of_all_calendars_is_refused(surface: Gate, text: str) -> None:
    action_id = await surface.staged()
    answer = await surface.denied(EDIT, actionId=action_id, scheduleFor=text)
    assert answer["reason"] == "validation_error"


async def test_a_time_after_the_expiry_moves_the_expiry_and_says_so(surface: Gate) -> None:
    for way in ("staged", "edited"):
        due_ms = surface.clock.now_ms() + ACTION_TTL_MS + 9 * DAY_MS
        if way == "staged":
            action_id = await surface.staged(scheduleFor=iso_time(due_ms))
        else:
            action_id = await surface.staged()
            await surface.done(EDIT, actionId=action_id, scheduleFor=iso_time(due_ms))
        record = await surface.record(action_id)
        assert record["expiresAt"] == iso_time(due_ms + DAY_MS), way
        assert any(full_time(due_ms + DAY_MS) in said for said in record["preflight"]["recommendations"]), way
        await surface.done(APPROVE, actionId=action_id, digest=record["digest"])
        surface.clock.advance(days=39)
        await surface.run_jobs()
        assert await surface.where(action_id) == "executed", way


async def test_a_yes_in_the_chat_after_its_time_is_refused_and_asks_for_a_new_time(surface: Gate) -> None:
    action_id = await surface.staged(scheduleFor=at(surface, HOUR))
    surface.clock.advance(hours=2)
    shown = await surface.record(action_id)
    assert APPROVE not in [call["name"] for call in calls_of(shown)]
    assert "a time that has passed" in text_of(shown) and "approve it" not in text_of(shown)
    assert "“approve" not in text_of(shown) and "needs another one" in shown["userMessage"]
    denied = await surface.denied(APPROVE, actionId=action_id, digest=shown["digest"])
    assert (denied["reason"], denied["recoveryTool"]["name"]) == ("validation_error", EDIT)
    assert set(denied["recoveryTool"]["needs"]) == {"scheduleFor"}
    await surface.run_jobs()
    assert (surface.calls, await surface.where(action_id)) == (0, "awaiting_approval")

    again = await surface.done(EDIT, **denied["recoveryTool"]["args"], scheduleFor=at(surface, HOUR))
    await surface.done(APPROVE, actionId=action_id, digest=again["digest"])
    await surface.run_jobs()
    assert surface.calls == 0
    surface.clock.advance(hours=1)
    await surface.run_jobs()
    assert (surface.calls, await surface.where(action_id)) == (1, "executed")


BERLIN = timezone(timedelta(hours=1))


def in_berlin(surface: Gate, in_ms: int) -> str:
    return datetime.fromtimestamp((surface.clock.now_ms() + in_ms) / 1_000, BERLIN).isoformat()


async def test_a_time_stands_first_in_its_zone_wherever_the_action_appears(surface: Gate) -> None:
    due_ms = surface.clock.now_ms() + 30 * HOUR
    run = await surface.run({"scheduleFor": in_berlin(surface, 30 * HOUR)})
    action_id, due = run["actions"][0]["id"], f"Not before: {zoned_time(due_ms, '+01:00')}"
    assert "(+01:00) = " in due
    (shown,) = run["agentGuide"]["renderInChat"].values()
    assert due in shown["body"].splitlines()[1]
    assert (await surface.record(action_id))["content"]["scheduleOffset"] == "+01:00"
    told = await surface.done(APPROVE, actionId=action_id)
    assert zoned_time(due_ms, "+01:00") in told["userMessage"]
    for tool in ("chieflab_status", "chieflab_report"):
        listed = await surface.done(tool)
        line = next(each for each in text_of(listed).splitlines() if each.startswith("- "))
        assert line.startswith(f"- {due.replace(':', '', 1)}:"), tool


async def test_a_brief_for_publishing_by_hand_begins_with_its_time(surface: Gate) -> None:
    due_ms = surface.clock.now_ms() + 30 * HOUR
    action_id = await surface.staged(scheduleFor=in_berlin(surface, 30 * HOUR))
    handed = await surface.done("chieflab_use_manual_fallback", actionId=action_id)
    (shown,) = handed["agentGuide"]["renderInChat"].values()
    assert shown["body"].startswith(f"Not before: {zoned_time(due_ms, '+01:00')}")
    told = await surface.done(APPROVE, actionId=action_id, digest=handed["digest"])
    assert f"Not before {zoned_time(due_ms, '+01:00')}" in told["userMessage"]
    shown = await surface.record(action_id)
    assert f"Not before {zoned_time(due_ms, '+01:00')}" in shown["userMessage"]


async def test_sending_what_is_planned_for_later_is_no_refused_attempt(surface: Gate) -> None:
    action_id = await surface.staged(scheduleFor=at(surface, HOUR))
    told = await surface.done(APPROVE, actionId=action_id, send=True)
    assert (told["status"], told["sent"], "notSent" in told) == ("approved", False, False)
    assert zoned_time(surface.clock.now_ms() + HOUR, "") in told["userMessage"]
    report = await surface.done("chieflab_report")
    assert "Refused attempts" not in text_of(report)
    surface.clock.advance(hours=1)
    await surface.run_jobs()
    assert (surface.calls, await surface.where(action_id)) == (1, "executed")
    assert "has passed" not in text_of(await surface.record(action_id))


async def test_now_is_a_time_once_the_planned_one_has_passed(surface: Gate) -> None:
    action_id = await surface.staged(scheduleFor=at(surface, HOUR))
    surface.clock.advance(hours=2)
    moved = await surface.done(EDIT, actionId=action_id, scheduleFor="now")
    told = await surface.done(APPROVE, actionId=action_id, digest=moved["digest"], send=True)
    assert (told["sent"], surface.calls, await surface.where(action_id)) == (True, 1, "executed")
