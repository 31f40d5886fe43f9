"""The words of the chat about a stranger's function: it has arguments and is executed, not sent."""

from __future__ import annotations

from tests.engine.actions.kit import APPROVE, EDIT, EXECUTE, PENDING, Gate
from tests.extensions.test_refunds import RING, stage


async def test_the_call_that_changes_a_function_asks_for_its_arguments(surface: Gate) -> None:
    answer = await surface.done(RING, times=1)
    (draft,) = answer["agentGuide"]["renderInChat"].values()
    pending = await surface.done(PENDING)
    (edit,) = [call for call in pending["next"] if call["name"] == EDIT]
    assert list(edit["needs"]) == ["arguments"]
    assert draft["actionId"] == edit["args"]["actionId"]


async def test_the_chat_names_the_execution_of_a_function(surface: Gate) -> None:
    action_id = await stage(surface, RING, times=1)
    decided = await surface.done(APPROVE, actionId=action_id)
    assert decided["userMessage"] == (
        "Approved. Nothing has been executed yet. "
        "Say “execute acme-billing” and it is executed, or “withdraw acme-billing”."
    )


async def test_the_chat_names_a_function_that_has_no_description_of_its_own(surface: Gate) -> None:
    answer = await surface.done("acme_billing_leave", how="well")
    assert "- Action: Leave\n" in answer["show"]


async def test_an_unknown_outcome_names_the_operator_as_people_know_it(surface: Gate) -> None:
    action_id = await stage(surface, "acme_billing_leave_thread", how="quit")
    await surface.done(APPROVE, actionId=action_id)
    refused = await surface.denied(EXECUTE, actionId=action_id)
    assert "Billing did not confirm it." in refused["userMessage"]
