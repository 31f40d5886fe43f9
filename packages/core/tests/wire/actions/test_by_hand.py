"""What a human publishes by hand is executed when they say where it is, and not before (E94, E98)."""

from __future__ import annotations

import pytest
from tests.support.actions.kit import APPROVE, EXECUTE, Gate
from tests.support.answers import calls_of, text_of

from assent.gate.policy import PRESETS
from assent.gate.preflight import Readiness
from assent.kernel.limits import DAY_MS
from assent.kernel.times import iso_time

HAND_OVER = "chieflab_use_manual_fallback"
RECORD = "chieflab_record_manual_publish"
LIVE = "https://news.ycombinator.com/item?id=1"


@pytest.mark.rule("E94", "E98")
async def test_handing_over_takes_the_approval_back_and_publishes_nothing(surface: Gate) -> None:
    action_id = await surface.approved()
    answer = await surface.done(HAND_OVER, actionId=action_id)
    assert (answer["status"], answer["published"], answer["revision"]) == ("awaiting_approval", False, 2)
    record = await surface.record(action_id)
    assert (record["status"], record["externalId"], record["approvedBy"]) == ("awaiting_approval", None, None)
    assert surface.calls == 0


@pytest.mark.rule("E5", "E94")
async def test_an_address_makes_only_an_approved_action_executed(surface: Gate) -> None:
    action_id = await surface.staged()
    assert (await surface.denied(RECORD, actionId=action_id, url=LIVE))["reason"] == "requires_approval"
    await surface.done(HAND_OVER, actionId=action_id)
    assert (await surface.denied(RECORD, actionId=action_id, url=LIVE))["reason"] == "requires_approval"
    await surface.approve_as_shown(action_id)
    refusal = await surface.denied(EXECUTE, actionId=action_id)
    assert refusal["status"] == "approved"
    for bad in ("", "javascript:alert(1)", "https://", "somewhere"):
        assert (await surface.denied(RECORD, actionId=action_id, url=bad))["reason"] == "validation_error"
    assert await surface.where(action_id) == "approved"
    answer = await surface.done(RECORD, actionId=action_id, url=LIVE, idempotencyKey="k")
    assert (answer["status"], answer["externalId"]) == ("executed", LIVE)
    assert await surface.done(RECORD, actionId=action_id, url=LIVE, idempotencyKey="k") == answer
    late = await surface.denied(RECORD, actionId=action_id, url=LIVE)
    assert (late["reason"], late["status"]) == ("requires_approval", "executed")
    assert surface.calls == 0
    for tool in ("chieflab_status", "chieflab_report"):
        told = text_of(await surface.done(tool))
        assert "the server did not see it" in told and "told me" not in told, tool


@pytest.mark.rule("E98")
async def test_an_address_does_not_close_an_action_that_a_connector_publishes(surface: Gate) -> None:
    for state in ("approved", "executing", "outcome_unknown", "retryable", "rejected", "executed", "failed"):
        action_id = await surface.bring_to(state)
        before = await surface.stored(action_id)
        await surface.denied(RECORD, actionId=action_id, url=LIVE)
        assert await surface.stored(action_id) == before, state


@pytest.mark.rule("E94")
async def test_what_the_person_did_by_hand_after_a_failed_attempt_is_recorded(surface: Gate) -> None:
    action_id = await surface.bring_to("retryable")
    surface.providers["unaware"].ready = Readiness(
        False, "missing_connector", "It is not connected any more."
    )
    calls = surface.calls

    answer = await surface.done(RECORD, actionId=action_id, url=LIVE)

    assert (answer["status"], answer["externalUrl"]) == ("executed", LIVE)
    assert surface.calls == calls


@pytest.mark.rule("E98")
async def test_a_planned_time_does_not_bind_what_a_person_does_by_hand(surface: Gate) -> None:
    due = iso_time(surface.clock.now_ms() + DAY_MS)
    action_id = await surface.staged(connector="manual", channel="hn", scheduleFor=due)
    answer = await surface.done(APPROVE, actionId=action_id, send=True)
    assert "notSent" not in answer and "by hand" in answer["userMessage"]
    assert RECORD in [call["name"] for call in calls_of(answer)]
    done = await surface.done(RECORD, actionId=action_id, url=LIVE)
    assert done["status"] == "executed"
    surface.clock.advance(days=2)
    await surface.run_jobs()
    assert surface.calls == 0


async def test_before_its_time_a_stricter_policy_leads_to_the_review_page(surface: Gate) -> None:
    due = iso_time(surface.clock.now_ms() + DAY_MS)
    action_id = await surface.approved(connector="manual", channel="hn", scheduleFor=due)
    await surface.set_policy(PRESETS["people"])
    told = await surface.denied(EXECUTE, actionId=action_id)
    assert told["reason"] == "requires_approval" and "/runs/" in told["reviewUrl"]
    assert "record it on the review page" in text_of(told)
