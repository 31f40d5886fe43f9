"""Several approvers over the wire: an agent reads who has approved, and that the rest is missing."""

from __future__ import annotations

from tests.support.actions.kit import EXECUTE, GET, Gate

from assent.gate.policy import PRESETS
from assent.gate.records import Assurance


async def high(surface: Gate) -> str:
    await surface.set_policy(PRESETS["two_people"])
    return await surface.staged(severity="high")


async def test_an_agent_reads_who_has_approved_and_how_many_are_missing(surface: Gate) -> None:
    action_id = await high(surface)
    assert (await surface.done(GET, actionId=action_id))["approvals"] == []
    await surface.approve_as(Assurance.PERSON, action_id, "Ada")
    shown = await surface.done(GET, actionId=action_id)
    (given,) = shown["approvals"]
    assert (given["by"], given["assurance"], given["counts"]) == ("Ada", "person", True)
    assert (shown["approvalsMissing"], shown["status"]) == (1, "awaiting_approval")
    assert shown["userMessage"].startswith("Ada approved it; one person more must.")
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "requires_approval"

    await surface.approve_as(Assurance.PERSON, action_id, "Grace")
    shown = await surface.done(GET, actionId=action_id)
    assert ([each["by"] for each in shown["approvals"]], shown["approvalsMissing"]) == (["Ada", "Grace"], 0)
    await surface.done(EXECUTE, actionId=action_id)


async def test_where_one_approval_suffices_the_answer_names_no_others(surface: Gate) -> None:
    assert "approvals" not in await surface.done(GET, actionId=await surface.approved())
