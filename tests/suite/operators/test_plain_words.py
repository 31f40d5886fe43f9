"""Texts for people name the place and the reason in plain words; a provider's own words are for the agent."""

from __future__ import annotations

from tests.suite.operators.conftest import Loop
from tests.suite.operators.test_cards import post

from assent.engine.actions import policies


async def test_a_call_of_nothing_that_exists_is_explained_to_the_person_without_its_name(loop: Loop) -> None:
    told = (await loop.call("chieflab_refund_order", {})).payload

    assert "tool" not in told["summaryForUser"] and "chieflab_" not in told["summaryForUser"]
    assert "chieflab_refund_order" in told["fixActionForAgent"]


async def test_a_post_that_joins_an_unknown_run_is_told_about_the_run(loop: Loop) -> None:
    told = await post(loop, runId="01a0c450-6c00-7072-a1da-357552ccc206")

    assert told["reason"] == "wrong_workspace" and "no run with that id" in told["userMessage"]


async def test_under_a_strict_policy_an_edit_and_the_way_by_hand_say_who_decides(loop: Loop) -> None:
    workspace_id = loop.workspace_id
    assert workspace_id is not None
    await loop.app.store.write(lambda: policies.choose(workspace_id, "people", 1, by="test"))
    about = {"actionId": (await post(loop, "linkedin"))["actions"][0]["id"]}
    edited = (await loop.call("chieflab_edit_action", {**about, "body": "Another text of ours."})).payload
    by_hand = (await loop.call("chieflab_use_manual_fallback", about)).payload

    assert "waits for your approval" not in edited["userMessage"] and "sign" in edited["userMessage"]
    assert "Say yes" not in by_hand["userMessage"] and "sign" in by_hand["userMessage"]
