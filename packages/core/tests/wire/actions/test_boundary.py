"""What the server claims about approvals after `assent boundary`."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.actions.kit import EXECUTE, Gate

from assent.engine.actions import boundary
from assent.engine.actions.boundary import PROBES, BoundaryResult, find_cap
from assent.gate.audit import describe_approval
from assent.gate.records import Assurance

pytestmark = pytest.mark.own_database


async def save(surface: Gate, *open_probes: str, uid: int = 1000) -> None:
    now_ms = surface.clock.now_ms()
    result = BoundaryResult("agent", uid, now_ms, open=open_probes)
    await surface.app.store.write(lambda: boundary.save(result, now_ms, by="test"))


async def approve(surface: Gate, assurance: Assurance, body: str) -> tuple[dict[str, Any], str]:
    """Approve high risk with this assurance and send it. Returns the record and the words."""
    action_id = await surface.staged(connector="unaware", severity="high", body=body)
    await surface.approve_as(assurance, action_id)
    await surface.done(EXECUTE, actionId=action_id)
    stored = (await surface.stored(action_id)).approval
    assert stored is not None and stored.assurance is assurance
    return await surface.record(action_id), describe_approval(stored)


async def discovered(surface: Gate) -> dict[str, Any]:
    found: dict[str, Any] = (await surface.http.get("/.well-known/mcp.json")).json()["assurance"]
    return found


async def test_where_an_agent_can_sign_in_no_approval_is_claimed_as_a_persons(surface: Gate) -> None:
    assert await discovered(surface) == {
        "mostClaimed": "passkey",
        "boundary": "unchecked",
        "checkedAt": None,
    }
    before, words = await approve(surface, Assurance.PERSON, "Sent before the check was made, on Monday.")
    assert (before["assurance"], before["contentNotAttested"]) == ("person", False)
    assert words.endswith("signed in")
    await save(surface, "server_process", "other_user")
    for assurance in (Assurance.PERSON, Assurance.PASSKEY):
        record, words = await approve(surface, assurance, f"Approved with {assurance}, on a Tuesday.")
        assert (record["assurance"], record["contentNotAttested"]) == ("agent", True)
        assert "an agent of this machine could" in words
        events = await surface.events(record["runId"])
        approved = next(each for each in events if each["kind"] == "action_approve")
        assert (approved["facts"]["assurance"], approved["facts"]["claimed"]) == (assurance, "agent")
    found = await discovered(surface)
    assert (found["mostClaimed"], found["boundary"]) == ("agent", "open")
    assert (await surface.app.owner_services.verify_journal(None)).ok
    assert (await surface.record(before["id"]))["assurance"] == "person"


async def test_what_held_claims_everything_and_one_open_user_is_enough_for_a_cap(surface: Gate) -> None:
    await save(surface)
    record, _ = await approve(surface, Assurance.PERSON, "The importer reads a million rows, on Wednesday.")
    assert record["assurance"] == "person"
    assert (await discovered(surface))["boundary"] == "held"
    await save(surface, "write_store", uid=1001)
    record, _ = await approve(surface, Assurance.PERSON, "The importer reads a million rows, on Thursday.")
    assert record["assurance"] == "agent"
    now_ms = surface.clock.now_ms()
    assert await surface.app.store.write(lambda: boundary.forget(1001, now_ms, by="test"))
    record, _ = await approve(surface, Assurance.PERSON, "The importer reads a million rows, on Friday.")
    assert record["assurance"] == "person"


def test_every_try_that_works_leaves_the_claim_of_an_agent() -> None:
    assert find_cap(()) is None
    assert {find_cap((name,)) for name in PROBES} == {Assurance.AGENT}
