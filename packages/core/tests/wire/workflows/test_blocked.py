"""What a step asks for and does not get blocks it, with all that is needed to do better (W30–W39, W60–W63)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.workflows.kit import Payload, WorkflowClient, definition
from tests.support.workflows.library import loop, step

NOTES = definition("notes", step("write", notesOptional=False), step("free"))


@pytest.mark.rule("W30", "W31", "W32", "W33")
@pytest.mark.parametrize("given", [{}, {"notesMarkdown": ""}, {"notesMarkdown": " \n\t"}], ids=str)
async def test_missing_notes_block_and_the_retry_passes(client: WorkflowClient, given: Payload) -> None:
    at = await client.start(NOTES)
    answer = await client.send(at, **given)
    blocked = answer.payload
    assert not answer.is_error
    assert (blocked["kind"], blocked["reason"], blocked["isComplete"]) == ("blocked", "notes_required", False)
    assert blocked["pending"] == at["pending"] and blocked["stateToken"] == at["stateToken"]
    assert blocked["ackToken"] != at["ackToken"]
    assert all(set(issue) == {"path", "code", "message"} for issue in blocked["issues"])
    text = answer.message["result"]["content"][0]["text"]
    assert blocked["ackToken"] in text and at["ackToken"] not in text
    assert await client.advance(at, **given) == blocked
    passed = await client.advance(blocked, notesMarkdown=blocked["notesExample"])
    assert passed["pending"]["stepId"] == "free"
    assert (await client.advance(passed))["isComplete"] is True


NO_TODO: dict[str, Any] = {"type": "regex", "pattern": r"^(?![\s\S]*TODO)", "message": "Leave no TODO."}


@pytest.mark.parametrize("rule", [NO_TODO, {"not": NO_TODO}], ids=["rule", "not"])
async def test_a_lone_negative_look_ahead_holds_for_notes_without_the_text(
    client: WorkflowClient, rule: dict[str, Any]
) -> None:
    at = await client.start(definition("todo", step("write", validationCriteria=[rule]), step("after")))
    without, within = "a\n" * 30_000, "a\n" * 20_000 + "TODO"
    bad, good = (within, without) if rule is NO_TODO else (without, within)
    blocked = await client.advance(at, notesMarkdown=bad)
    assert (blocked["kind"], blocked["reason"]) == ("blocked", "validation_failed")
    assert (await client.advance(blocked, notesMarkdown=good))["pending"]["stepId"] == "after"


async def test_a_condition_that_is_a_negative_look_ahead_holds_for_values_without_the_text(
    client: WorkflowClient,
) -> None:
    when = {"var": "plan", "matches": r"^(?!.*TODO)"}
    file = definition("plan", step("write"), step("after", runCondition=when), step("last"))
    for value, following in (("a todo", "last"), ("a" * 20_000, "after")):
        at = await client.start(file)
        assert (await client.advance(at, context={"plan": value}))["pending"]["stepId"] == following


@pytest.mark.rule("W32")
async def test_both_the_first_and_the_fresh_token_can_be_used_after_a_block(client: WorkflowClient) -> None:
    at = await client.start(NOTES)
    blocked = await client.advance(at)
    assert (await client.rehydrate(at))["ackToken"] == blocked["ackToken"]
    first = await client.advance(at, notesMarkdown="with the first")
    fresh = await client.advance(blocked, notesMarkdown="with the fresh one")
    assert first["pending"]["stepId"] == fresh["pending"]["stepId"] == "free"


@pytest.mark.rule("W39")
async def test_after_ten_blocked_attempts_in_a_row_there_is_an_error_and_the_run_can_still_be_saved(
    client: WorkflowClient,
) -> None:
    at = await client.start(NOTES)
    for n in range(10):
        at = await client.advance(at, context={"attempt": n})
        assert at["kind"] == "blocked"
    before = await client.tables()
    for n in range(3):
        answer = await client.send(at, context={"attempt": 10 + n})
        assert answer.reason == "validation_error" and "ten attempts" in answer.payload["userMessage"]
        assert answer.payload["problems"]
        assert "Ten attempts in a row" in answer.payload["fixActionForAgent"]
        assert "before the user has answered" in answer.payload["stopRule"]
    assert await client.tables() == before
    assert (await client.advance(at, notesMarkdown="at last"))["pending"]["stepId"] == "free"


@pytest.mark.rule("W39")
async def test_an_advance_that_passes_ends_the_row_of_blocked_attempts(client: WorkflowClient) -> None:
    at = await client.start(NOTES)
    for n in range(9):
        at = await client.advance(at, context={"attempt": n})
    await client.advance(at, notesMarkdown="passed")
    # A chat that was rewound to before it.
    for n in range(9, 19):
        at = await client.advance(at, context={"attempt": n})
        assert at["kind"] == "blocked"
    assert await client.reason(at, context={"attempt": 19}) == "validation_error"
    assert await client.journal_holds()


# ── loops ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.rule("W60")
async def test_a_run_whose_first_loop_lacks_its_items_waits_for_them(client: WorkflowClient) -> None:
    each = loop(
        "each", [step("body", prompt="Look at {{file}}.")], type="forEach", items="files", itemVar="file"
    )
    blocked = await client.start(definition("first", each))
    assert (blocked["kind"], blocked["reason"], blocked["isComplete"]) == ("blocked", "loop_blocked", False)
    assert [(issue["path"], issue["code"]) for issue in blocked["issues"]] == [
        ("context.files", "loop_items_unset")
    ]
    assert blocked["pending"]["stepId"] == "each" and "context.files" in blocked["pending"]["prompt"]
    again = await client.advance(blocked, notesMarkdown="I do not know them.")
    assert again["kind"] == "blocked" and again["ackToken"] != blocked["ackToken"]
    assert (await client.rehydrate(again))["pending"] == blocked["pending"]
    inside = await client.advance(again, context={"files": ["a.py"]})
    assert (inside["pending"]["stepKey"], inside["pending"]["prompt"]) == ("each[1]/body", "Look at a.py.")
    assert (await client.advance(inside))["isComplete"]
    assert (await client.advance(again, context={"files": []}))["isComplete"], "another branch"
    assert (await client.start("first", context={"files": ["a"]}))["pending"]["stepId"] == "body"


@pytest.mark.rule("W60", "W11")
async def test_a_start_that_waits_for_a_loop_inside_a_loop_is_repeated_and_goes_on(
    client: WorkflowClient,
) -> None:
    inner = loop("inner", [step("body")], type="for", count="times")
    workflow = definition("nested", loop("outer", [inner], type="forEach", items="files"), step("end"))
    client.write(workflow)
    blocked = await client.start("nested", context={"files": [1, 2]}, idempotencyKey="once")
    assert blocked == await client.start("nested", context={"files": [1, 2]}, idempotencyKey="once")
    assert [issue["path"] for issue in blocked["issues"]] == ["context.times"]
    at = await client.advance(blocked, context={"times": 1})
    keys = []
    while at["pending"]["stepId"] != "end":
        keys.append(at["pending"]["stepKey"])
        at = await client.advance(at)
    assert keys == ["outer[1]/inner[1]/body", "outer[2]/inner[1]/body"]
