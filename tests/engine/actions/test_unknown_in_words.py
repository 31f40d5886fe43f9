"""What is said and offered while an outcome is unknown, and after it was told."""

from __future__ import annotations

import pytest
from tests.engine.actions.kit import RESOLVE, Gate

pytestmark = pytest.mark.anyio


async def test_an_unknown_outcome_is_said_plainly_wherever_it_is_shown(surface: Gate) -> None:
    action_id = await surface.bring_to("outcome_unknown")
    shown = await surface.done("chieflab_get_action", actionId=action_id)
    pending = await surface.done("chieflab_list_pending_actions")

    for text in (shown["show"], shown["userMessage"], pending["show"]):
        assert "not known whether it went out" in text
        assert "HTTP" not in text and "No answer came back" not in text
    assert "/runs/" in pending["show"]


async def test_only_that_it_happened_is_offered_to_an_agent(surface: Gate) -> None:
    action_id = await surface.bring_to("outcome_unknown")
    offered = (await surface.done("chieflab_get_action", actionId=action_id))["next"]
    (tell,) = [call for call in offered if call["name"] == RESOLVE]

    assert tell["args"] == {"actionId": action_id, "outcome": "happened"}
    assert set(tell["needs"]) == {"evidence"}


async def test_an_answered_outcome_says_what_it_rests_on(surface: Gate) -> None:
    action_id = await surface.bring_to("outcome_unknown")
    answer = await surface.done(
        RESOLVE, actionId=action_id, outcome="happened", evidence="https://social.example/1"
    )
    report = await surface.done("chieflab_report")

    assert (answer["status"], answer["id"]) == ("executed", action_id)
    assert answer["show"] and answer["userMessage"]
    assert [call["name"] for call in answer["next"]] == ["chieflab_measure"]
    (entry,) = [each for each in report["actions"] if each["actionId"] == action_id]
    assert "reported" in entry["why"] and entry["why"] in report["show"]
