"""A refusal says what holds for the action: its four texts, its content and its calls agree with its state."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, BODY, EDIT, EXECUTE, OTHER, PUBLISH, REJECT, WITHDRAW, Gate
from tests.support.answers import bodies_of, calls_of, text_of

from assent.gate.policy import PRESETS

TEXTS = ("summaryForUser", "userMessage", "fixActionForAgent", "stopRule")
INTERNAL = re.compile(r"chieflab_|ASSENT_|\b[a-z]+(_[a-z]+)+\b|\b[a-z]+[A-Z]\w*")


def calls_in(answer: dict[str, Any]) -> list[tuple[str, dict[str, Any], dict[str, str]]]:
    """Every call that an answer offers."""
    return [(each["name"], each["args"], each.get("needs", {})) for each in calls_of(answer)]


def judge(answer: dict[str, Any]) -> str:
    """What holds for every refusal that a person has to act on; returns all its texts."""
    assert (answer["retry"], answer["retryable"], answer["recoveryTool"]) == ("never", False, None)
    assert "retryAfterSeconds" not in answer
    assert answer["fixActionForAgent"].startswith("STOP")
    for name in ("summaryForUser", "userMessage"):
        assert INTERNAL.search(answer[name]) is None, answer[name]
    return " ".join(answer[name] for name in TEXTS)


async def test_what_waits_is_shown_with_its_commands_and_they_work(surface: Gate) -> None:
    action_id = await surface.staged()
    answer = await surface.denied(EXECUTE, actionId=action_id)

    judge(answer)
    assert BODY in text_of(answer)
    assert "/runs/" in answer["reviewUrl"]
    approve = calls_of(answer)[0]
    assert (approve["name"], set(approve["args"])) == (APPROVE, {"actionId", "digest"})
    assert EXECUTE not in {name for name, _, _ in calls_in(answer)}
    await surface.done(approve["name"], **approve["args"])
    assert await surface.where(action_id) == "approved"


@pytest.mark.rule("E63")
async def test_what_has_ended_says_so_and_asks_for_no_approval(surface: Gate) -> None:
    more = {EDIT: {"body": OTHER}, REJECT: {"reason": "no"}}
    for state in ("executed", "rejected", "failed"):
        action_id = await surface.bring_to(state)
        for tool in (EXECUTE, PUBLISH, APPROVE, EDIT, REJECT, WITHDRAW):
            answer = await surface.denied(tool, actionId=action_id, **more.get(tool, {}))

            judge(answer)
            assert bodies_of(answer) == {}
            assert {name for name, _, _ in calls_in(answer)} & {APPROVE, EXECUTE, PUBLISH} == set()
            assert answer["status"] == state


@pytest.mark.parametrize("state", ["awaiting_approval", "approved"])
@pytest.mark.parametrize(("preset", "who"), [("people", "signed-in person"), ("two_people", "signed-in")])
async def test_where_people_decide_no_text_and_no_call_offers_the_chat(
    surface: Gate, state: str, preset: str, who: str
) -> None:
    high = {"severity": "high"} if preset == "two_people" and state == "awaiting_approval" else {}
    action_id = await (surface.approved() if state == "approved" else surface.staged(**high))
    await surface.set_policy(PRESETS[preset])
    for tool in (EXECUTE,) if state == "approved" else (EXECUTE, APPROVE):
        answer = await surface.denied(tool, actionId=action_id)

        texts = judge(answer)
        assert who in answer["userMessage"]
        assert "in the chat, or" not in texts and "only as a fallback" not in texts
        offered = {name for name, _, _ in calls_in(answer)}
        assert offered & {APPROVE, EXECUTE} == set()
        assert calls_of(answer)[0]["name"] == "chieflab_get_action"
        assert BODY in text_of(answer) and "/runs/" in answer["reviewUrl"]


async def test_a_key_that_cannot_decide_is_told_who_does(surface: Gate) -> None:
    action_id = await surface.staged()
    sends = await surface.key_with("actions:execute")
    answer = (await surface.call(EXECUTE, {"actionId": action_id}, key=sends)).payload

    texts = judge(answer)
    assert "in the chat, or" not in texts
    assert APPROVE not in {name for name, _, _ in calls_in(answer)}
    waits = calls_of(answer)[0]
    assert (waits["name"], waits["args"]["actionId"]) == ("chieflab_get_action", action_id)
