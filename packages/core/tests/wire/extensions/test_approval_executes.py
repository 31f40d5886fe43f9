"""A type whose approval also executes: the words say so, and the approval starts the job."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.actions.kit import APPROVE, EDIT, EXECUTE, GET, PENDING, WITHDRAW, Gate
from tests.extensions.test_refunds import stage

from assent.gate.policy import Policy, Requirement
from assent.gate.records import Assurance

STAMP = "acme_billing_stamp"


@pytest.mark.every_surface
async def test_an_approval_starts_the_execution_once_and_the_chat_says_so(surface: Gate, shop: Any) -> None:
    staged = await surface.done(STAMP, text="Dear Ada")
    (draft,) = staged["agentGuide"]["renderInChat"].values()
    words = f"approve and execute {staged['actions'][0]['channel']}"
    assert [each["say"] for each in draft["commands"] if each["tool"] == APPROVE] == [words]
    assert f"“{words}”" in staged["show"] and f"“{words}”" in staged["agentGuide"]["userMessage"]
    action_id = staged["actions"][0]["id"]

    decided = await surface.done(APPROVE, actionId=action_id)
    assert decided["status"] == "approved"
    assert "It is executed now" in decided["userMessage"]
    assert "Nothing has been sent" not in decided["userMessage"]
    assert [call["name"] for call in decided["next"]] == [GET, WITHDRAW]
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"
    await surface.run_jobs()
    assert shop.LEDGER == [{"stamped": "Dear Ada"}]


async def test_approving_and_sending_in_one_call_executes_once(surface: Gate, shop: Any) -> None:
    action_id = await stage(surface, STAMP, text="Dear Ada")
    assert (await surface.done(APPROVE, actionId=action_id, send=True))["sent"] is True
    await surface.run_jobs()
    assert shop.LEDGER == [{"stamped": "Dear Ada"}]


async def test_a_withdrawn_approval_executes_nothing(surface: Gate, shop: Any) -> None:
    action_id = await stage(surface, STAMP, text="Dear Ada")
    await surface.done(APPROVE, actionId=action_id)
    await surface.done(WITHDRAW, actionId=action_id, reason="Not yet.")
    await surface.run_jobs()
    assert shop.LEDGER == []
    await surface.done(EDIT, actionId=action_id, arguments={"text": "Dear Grace"})
    await surface.approve_as(Assurance.PERSON, action_id)
    await surface.run_jobs()
    assert shop.LEDGER == [{"stamped": "Dear Grace"}]


async def test_the_first_of_two_approvals_executes_nothing(surface: Gate, shop: Any) -> None:
    two = Requirement(Assurance.PERSON, 2)
    await surface.set_policy(Policy(low=two, medium=two, high=two))
    action_id = await stage(surface, STAMP, text="Dear Ada")
    await surface.approve_as(Assurance.PERSON, action_id, name="Ada")
    await surface.run_jobs()
    assert shop.LEDGER == []
    await surface.approve_as(Assurance.PERSON, action_id, name="Grace")
    await surface.run_jobs()
    assert shop.LEDGER == [{"stamped": "Dear Ada"}]


async def test_a_key_that_may_not_execute_may_not_give_an_approval_that_executes(
    surface: Gate, shop: Any
) -> None:
    action_id = await stage(surface, STAMP, text="Dear Ada")
    ring = await stage(surface, "acme_billing_ring", times=1)
    surface.key = await surface.key_with("runs:write", "runs:read", "actions:decide")
    refused = await surface.denied(APPROVE, actionId=action_id)
    assert refused["reason"] == "insufficient_scope"
    offered = {
        call["args"]["actionId"] for call in (await surface.done(PENDING))["next"] if call["name"] == APPROVE
    }
    assert offered == {ring}
    await surface.run_jobs()
    assert shop.LEDGER == []


async def test_an_attempt_that_failed_can_be_repeated_from_the_chat(surface: Gate, shop: Any) -> None:
    shop.FAULTS.append("the printer is out of ink")
    action_id = await stage(surface, STAMP, text="Dear Ada")
    await surface.done(APPROVE, actionId=action_id)
    await surface.run_jobs()
    assert await surface.where(action_id) == "retryable"
    shown = await surface.done(GET, actionId=action_id)
    assert EXECUTE in [call["name"] for call in shown["next"]]
    await surface.done(EXECUTE, actionId=action_id)
    assert shop.LEDGER == [{"stamped": "Dear Ada"}]


async def test_an_effect_that_is_handed_over_is_not_executed_by_its_approval(
    surface: Gate, shop: Any
) -> None:
    action_id = await stage(surface, STAMP, text="Dear Ada")
    handed = await surface.done("chieflab_use_manual_fallback", actionId=action_id)
    assert "Text: Dear Ada" in handed["show"] and "Do it by hand, then tell me" in handed["show"]
    await surface.approve_as(Assurance.PERSON, action_id)
    await surface.run_jobs()
    assert await surface.where(action_id) == "approved" and shop.LEDGER == []
    done = await surface.done("chieflab_record_manual_publish", actionId=action_id)
    assert done["status"] == "executed" and "Recorded as done by hand: Billing." in done["show"]
