"""Whom a workspace writes to is counted over a day and over all of its actions."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, REJECT, Gate

from assent.gate.records import Assurance
from assent.kernel.times import iso_time


def people(first: int, count: int) -> list[str]:
    return [f"reader{number}@example.org" for number in range(first, first + count)]


def mail(first: int, count: int) -> dict[str, Any]:
    return {
        "channel": "email",
        "verb": "email",
        "subject": f"Hello from {first}",
        "recipients": people(first, count),
    }


async def severity(surface: Gate, action_id: str) -> str:
    found: str = (await surface.record(action_id))["preflight"]["severity"]
    return found


@pytest.mark.rule("E62")
async def test_a_mailing_in_four_parts_is_as_heavy_as_in_one(surface: Gate) -> None:
    first = await surface.approved(**mail(0, 50))
    await surface.done(EXECUTE, actionId=first)
    for part in (50, 100, 150):
        action_id = await surface.staged(**mail(part, 50))
        assert await severity(surface, action_id) == "high"
        assert (await surface.denied(APPROVE, actionId=action_id))["reason"] == "requires_approval"
    assert len(surface.ledger) == 1
    await surface.approve_as(Assurance.PERSON, action_id)
    await surface.done(EXECUTE, actionId=action_id)
    assert len(surface.ledger) == 2


async def test_the_same_people_again_are_no_more_people(surface: Gate) -> None:
    for _ in range(3):
        action_id = await surface.staged(**mail(0, 50))
        assert await severity(surface, action_id) == "medium"
    other = {**mail(0, 50), "recipients": [text.upper() for text in people(0, 50)]}
    assert await severity(surface, await surface.staged(**other)) == "medium"


@pytest.mark.rule("E62", "E63")
async def test_what_an_agent_approved_and_is_high_at_the_claim_needs_a_person(surface: Gate) -> None:
    early = await surface.approved(**mail(0, 30))
    surface.clock.advance(hours=25)
    await surface.approved(**mail(100, 30))
    answer = await surface.denied(EXECUTE, actionId=early)
    assert (answer["reason"], answer["recoveryTool"]) == ("requires_approval", None)
    assert surface.calls == 0
    await surface.approve_as(Assurance.PERSON, early)
    await surface.done(EXECUTE, actionId=early)
    assert await severity(surface, early) == "high"


async def test_what_was_rejected_has_expired_or_is_a_day_old_does_not_count(surface: Gate) -> None:
    rejected = await surface.staged(**mail(0, 50))
    await surface.done(REJECT, actionId=rejected, reason="no")
    soon = iso_time(surface.clock.now_ms() + 3_600_000)
    await surface.staged(**mail(50, 50), expiresAt=soon)
    surface.clock.advance(hours=2)
    await surface.approved(**mail(100, 50))
    surface.clock.advance(hours=24)
    assert await severity(surface, await surface.staged(**mail(150, 50))) == "medium"


async def test_an_edit_and_one_run_count_their_people_too(surface: Gate) -> None:
    action_id = await surface.staged(**mail(0, 30))
    other = await surface.staged(**mail(0, 1))
    await surface.done(EDIT, actionId=other, to=people(100, 25))
    assert await severity(surface, other) == "high"
    assert await severity(surface, action_id) == "high"
    assert (await surface.denied(APPROVE, actionId=action_id))["reason"] == "requires_approval"
    await surface.done(REJECT, actionId=other, reason="no")
    assert await severity(surface, action_id) == "medium"
    assert (await surface.done(APPROVE, actionId=action_id))["status"] == "approved"
    run = await surface.run(mail(0, 30), mail(200, 30))
    assert {action["preflight"]["severity"] for action in run["actions"]} == {"high"}
