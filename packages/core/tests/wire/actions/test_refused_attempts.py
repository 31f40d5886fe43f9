"""A refused attempt to execute is recorded once an hour; rejecting an approved action is recorded as two moves."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, OTHER, PUBLISH, REJECT, Gate

from assent.gate.policy import DEFAULT, PolicyRule

REFUSED = "execution_refused"


async def refusals(surface: Gate, action_id: str) -> list[dict[str, Any]]:
    run_id = (await surface.record(action_id))["runId"]
    return [event["facts"] for event in await surface.events(run_id) if event["kind"] == REFUSED]


@pytest.mark.parametrize("state", ["awaiting_approval", "outcome_unknown", "rejected", "executed", "failed"])
async def test_a_refused_attempt_is_an_event_of_the_action(surface: Gate, state: str) -> None:
    action_id = await surface.bring_to(state)
    answer = await surface.denied(EXECUTE, actionId=action_id)

    (facts,) = await refusals(surface, action_id)

    assert (facts["actionId"], facts["reason"], facts["revision"]) == (action_id, answer["reason"], 1)
    assert (facts["detail"], facts["tool"]) == (answer["summaryForUser"], EXECUTE)
    assert facts["by"].startswith("key:") or facts["by"] == "local"


async def test_an_attempt_that_the_policy_denies_is_an_event_of_the_action(surface: Gate) -> None:
    action_id = await surface.approved()
    await surface.set_policy(msgspec.structs.replace(DEFAULT, rules=(PolicyRule(name="never", deny="No."),)))
    await surface.denied(EXECUTE, actionId=action_id)

    (facts,) = await refusals(surface, action_id)

    assert facts["reason"] == "denied_by_policy"


async def test_the_same_refusal_is_recorded_once_an_hour_and_another_at_once(surface: Gate) -> None:
    action_id = await surface.staged()
    for tool in (EXECUTE, PUBLISH, EXECUTE):
        await surface.denied(tool, actionId=action_id)
    assert len(await refusals(surface, action_id)) == 1

    await surface.done(EDIT, actionId=action_id, body=OTHER)
    await surface.denied(EXECUTE, actionId=action_id)
    assert [facts["revision"] for facts in await refusals(surface, action_id)] == [1, 2]

    surface.clock.advance(hours=1)
    await surface.denied(EXECUTE, actionId=action_id)
    assert len(await refusals(surface, action_id)) == 3


async def test_a_mistake_in_the_call_is_no_event_of_the_action(surface: Gate) -> None:
    action_id = await surface.approved()
    other = await surface.approved()
    await surface.done(EXECUTE, actionId=other, idempotencyKey="k")
    await surface.denied(EXECUTE, actionId=action_id, idempotencyKey="k")
    await surface.denied("chieflab_send_approved_email", actionId=action_id)

    assert await refusals(surface, action_id) == []


async def test_rejecting_what_was_approved_is_two_moves_each_with_its_status(surface: Gate) -> None:
    action_id = await surface.staged()
    await surface.done(APPROVE, actionId=action_id)
    await surface.done(REJECT, actionId=action_id, reason="not now")
    run_id = (await surface.record(action_id))["runId"]

    moves = [(event["kind"], event["facts"].get("status")) for event in await surface.events(run_id)]

    assert moves[1:] == [
        ("action_approve", "approved"),
        ("action_withdraw", "awaiting_approval"),
        ("action_reject", "rejected"),
    ]
