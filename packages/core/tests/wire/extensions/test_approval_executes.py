"""A type whose approval also executes: the words say so, and the approval starts the job."""

from __future__ import annotations

from typing import Any

import pytest
from packages.core.tests.wire.extensions.test_refunds import stage
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, GET, PENDING, WITHDRAW, Gate
from tests.support.answers import call_for, calls_of, text_of

from assent.engine.core.tenancy import SCOPES
from assent.gate.policy import Policy, Requirement
from assent.gate.records import Assurance

STAMP = "acme_billing_stamp"


async def test_an_approval_starts_the_execution_once_and_the_chat_says_so(
    surface: Gate, billing: Any
) -> None:
    staged = await surface.done(STAMP, text="Dear Ada")
    words = f"approve and execute {staged['actions'][0]['channel']}"
    assert f"“{words}”" in text_of(staged) and words in call_for(staged, APPROVE)["when"]
    action_id = staged["actions"][0]["id"]

    decided = await surface.done(APPROVE, actionId=action_id)
    assert decided["status"] == "approved"
    assert "It is executed now" in decided["userMessage"]
    assert "Nothing has been sent" not in decided["userMessage"]
    assert [call["name"] for call in calls_of(decided)] == [GET, WITHDRAW]
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"
    await surface.run_jobs()
    assert billing.LEDGER == [{"stamped": "Dear Ada"}]


async def test_approving_and_sending_in_one_call_executes_once(surface: Gate, billing: Any) -> None:
    action_id = await stage(surface, STAMP, text="Dear Ada")
    assert (await surface.done(APPROVE, actionId=action_id, send=True))["sent"] is True
    await surface.run_jobs()
    assert billing.LEDGER == [{"stamped": "Dear Ada"}]


@pytest.mark.rule("E82")
async def test_a_function_that_a_test_key_prepared_is_never_run(surface: Gate, billing: Any) -> None:
    key = await surface.key_with(*SCOPES, mode="dev")
    staged = (await surface.call(STAMP, {"text": "Dear Ada"}, key=key)).payload
    action_id = staged["actions"][0]["id"]
    await surface.done(APPROVE, actionId=action_id)
    await surface.run_jobs()
    refused = await surface.denied(EXECUTE, actionId=action_id)

    assert refused["reason"] == "provider_not_live" and "Dear Ada" in str(refused)
    assert billing.LEDGER == []


async def test_a_withdrawn_approval_executes_nothing(surface: Gate, billing: Any) -> None:
    action_id = await stage(surface, STAMP, text="Dear Ada")
    await surface.done(APPROVE, actionId=action_id)
    await surface.done(WITHDRAW, actionId=action_id, reason="Not yet.")
    await surface.run_jobs()
    assert billing.LEDGER == []
    await surface.done(EDIT, actionId=action_id, arguments={"text": "Dear Grace"})
    await surface.approve_as(Assurance.PERSON, action_id)
    await surface.run_jobs()
    assert billing.LEDGER == [{"stamped": "Dear Grace"}]


async def test_the_first_of_two_approvals_executes_nothing(surface: Gate, billing: Any) -> None:
    two = Requirement(Assurance.PERSON, 2)
    await surface.set_policy(Policy(low=two, medium=two, high=two))
    action_id = await stage(surface, STAMP, text="Dear Ada")
    await surface.approve_as(Assurance.PERSON, action_id, name="Ada")
    await surface.run_jobs()
    assert billing.LEDGER == []
    await surface.approve_as(Assurance.PERSON, action_id, name="Grace")
    await surface.run_jobs()
    assert billing.LEDGER == [{"stamped": "Dear Ada"}]


async def test_a_key_that_may_not_execute_may_not_give_an_approval_that_executes(
    surface: Gate, billing: Any
) -> None:
    action_id = await stage(surface, STAMP, text="Dear Ada")
    ring = await stage(surface, "acme_billing_ring", times=1)
    surface.key = await surface.key_with("runs:write", "runs:read", "actions:decide")
    refused = await surface.denied(APPROVE, actionId=action_id)
    assert refused["reason"] == "insufficient_scope"
    offered = {
        call["args"]["actionId"] for call in calls_of(await surface.done(PENDING)) if call["name"] == APPROVE
    }
    assert offered == {ring}
    await surface.run_jobs()
    assert billing.LEDGER == []


async def test_an_attempt_that_failed_can_be_repeated_from_the_chat(surface: Gate, billing: Any) -> None:
    billing.FAULTS.append("the printer is out of ink")
    action_id = await stage(surface, STAMP, text="Dear Ada")
    await surface.done(APPROVE, actionId=action_id)
    await surface.run_jobs()
    assert await surface.where(action_id) == "retryable"
    shown = await surface.done(GET, actionId=action_id)
    assert EXECUTE in [call["name"] for call in calls_of(shown)]
    await surface.done(EXECUTE, actionId=action_id)
    assert billing.LEDGER == [{"stamped": "Dear Ada"}]


async def test_an_effect_that_is_handed_over_is_not_executed_by_its_approval(
    surface: Gate, billing: Any
) -> None:
    action_id = await stage(surface, STAMP, text="Dear Ada")
    handed = await surface.done("chieflab_use_manual_fallback", actionId=action_id)
    assert "Text: Dear Ada" in text_of(handed) and "o it by hand, then tell me" in text_of(handed)
    await surface.approve_as(Assurance.PERSON, action_id)
    await surface.run_jobs()
    assert await surface.where(action_id) == "approved" and billing.LEDGER == []
    done = await surface.done("chieflab_record_manual_publish", actionId=action_id)
    assert done["status"] == "executed" and "Recorded as done by hand: Billing." in text_of(done)
