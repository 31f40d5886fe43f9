"""How sure the server must be that a human decided, by severity and by the workspace's policy (C8)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, GET, RESOLVE, Gate

from assent.gate.policy import PRESETS, Policy, Requirement
from assent.gate.preflight import Readiness
from assent.gate.records import Assurance
from assent.kernel.refusals import Refusal

pytestmark = pytest.mark.rule("E62")

EVERY = Requirement(Assurance.PERSON, 2)
TWO = Policy(low=EVERY, medium=EVERY, high=EVERY)


@pytest.mark.parametrize(
    ("effect", "severity"),
    [
        ({"channel": "site", "verb": "publish", "connector": "site"}, "low"),
        ({}, "medium"),
        ({"verb": "charge"}, "high"),
        ({"verb": "delete"}, "high"),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_severity_follows_the_effect_and_decides_who_may_approve(
    surface: Gate, effect: dict[str, Any], severity: str
) -> None:
    run = await surface.run(effect)
    [action] = run["actions"]
    assert action["preflight"]["severity"] == severity
    answer = await surface.ask(APPROVE, actionId=action["id"])
    if severity != "high":
        assert answer.payload["assurance"] == "agent"
        return
    assert (answer.reason, answer.payload["recoveryTool"], answer.payload["retryable"]) == (
        "requires_approval",
        None,
        False,
    )
    assert f"/runs/{run['runId']}?token=" in answer.payload["reviewUrl"]
    assert "person" in answer.payload["userMessage"]
    with pytest.raises(Refusal):
        await surface.approve_as(Assurance.LINK, action["id"])
    with pytest.raises(Refusal):
        await surface.approve_as(Assurance.CLIENT, action["id"])
    approved = await surface.approve_as(Assurance.PERSON, action["id"])
    assert approved.approval is not None
    assert (approved.approval.assurance, approved.status) == (Assurance.PERSON, "approved")


async def test_an_edited_action_needs_the_approval_of_what_it_is_now(surface: Gate) -> None:
    action_id = await surface.approved(channel="email", verb="email", recipients=["ada@example.org"])
    many = [f"a{n}@example.org" for n in range(51)]
    digest = (await surface.done(EDIT, actionId=action_id, to=many))["digest"]
    answer = await surface.denied(APPROVE, actionId=action_id, digest=digest)
    assert answer["reason"] == "requires_approval"
    assert (await surface.record(action_id))["preflight"]["severity"] == "high"

    digest = (await surface.done(EDIT, actionId=action_id, to=["ada@example.org"]))["digest"]

    assert (await surface.record(action_id))["preflight"]["severity"] == "medium"
    assert (await surface.done(APPROVE, actionId=action_id, digest=digest))["status"] == "approved"


async def test_a_surer_approval_is_not_overwritten_by_a_weaker_one(surface: Gate) -> None:
    action_id = await surface.staged()
    await surface.approve_as(Assurance.PERSON, action_id)
    await surface.done(APPROVE, actionId=action_id)
    assert (await surface.record(action_id))["assurance"] == "person"


async def test_a_second_approver_can_complete_what_a_stricter_policy_made_too_little(surface: Gate) -> None:
    action_id = await surface.staged()
    await surface.approve_as(Assurance.PERSON, action_id, "Ada")
    await surface.set_policy(TWO)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "requires_approval"
    await surface.approve_as(Assurance.PERSON, action_id, "Ada")
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "requires_approval"
    await surface.approve_as(Assurance.PERSON, action_id, "Grace")
    await surface.done(EXECUTE, actionId=action_id)
    assert len(surface.ledger) == 1


async def test_that_something_did_not_happen_needs_a_person(surface: Gate) -> None:
    action_id = await surface.bring_to("outcome_unknown")
    answer = await surface.denied(
        RESOLVE, actionId=action_id, outcome="did_not_happen", evidence="I looked at the page"
    )
    assert (answer["reason"], answer["recoveryTool"], answer["retryable"]) == (
        "requires_approval",
        None,
        False,
    )
    assert "/runs/" in answer["reviewUrl"]
    assert await surface.where(action_id) == "outcome_unknown"
    await surface.answer_as_person(action_id, happened=False)
    assert await surface.where(action_id) == "retryable"


async def test_doing_it_by_hand_makes_an_action_weigh_no_less(surface: Gate) -> None:
    provider = surface.providers["native"]
    provider.ready = Readiness(False, "missing_connector", "Connect it.")
    action_id = await surface.staged(severity="high")
    provider.ready = Readiness(True)
    answer = await surface.done("chieflab_use_manual_fallback", actionId=action_id)
    assert answer["status"] == "awaiting_approval"
    assert (await surface.record(action_id))["preflight"]["severity"] == "high"
    digest = (await surface.record(action_id))["digest"]
    assert (await surface.denied(APPROVE, actionId=action_id, digest=digest))["reason"] == "requires_approval"


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
