"""What a step asks for and does not get blocks it, with all that is needed to do better (W30–W39, W60–W63)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.workflows.kit import Payload, Player, definition
from tests.workflow.library import ARTIFACT_LOOP, decision, loop, step

NOTES = definition("notes", step("write", notesOptional=False), step("free"))
REVIEW: dict[str, Any] = {"contractRef": "mr_review.phase_0_triage"}


@pytest.mark.rule("W30", "W31", "W32", "W33")
@pytest.mark.parametrize("given", [{}, {"notesMarkdown": ""}, {"notesMarkdown": " \n\t"}], ids=str)
async def test_missing_notes_block_and_the_retry_passes(play: Player, given: Payload) -> None:
    at = await play.start(NOTES)
    answer = await play.send(at, **given)
    blocked = answer.payload
    assert not answer.is_error
    assert (blocked["kind"], blocked["reason"], blocked["isComplete"]) == ("blocked", "notes_required", False)
    assert blocked["pending"] == at["pending"] and blocked["stateToken"] == at["stateToken"]
    assert blocked["ackToken"] != at["ackToken"]
    assert all(set(issue) == {"path", "code", "message"} for issue in blocked["issues"])
    text = answer.message["result"]["content"][0]["text"]
    assert blocked["ackToken"] in text and at["ackToken"] not in text
    assert await play.advance(at, **given) == blocked
    passed = await play.advance(blocked, notesMarkdown=blocked["notesExample"])
    assert passed["pending"]["stepId"] == "free"
    assert (await play.advance(passed))["isComplete"] is True


NO_TODO: dict[str, Any] = {"type": "regex", "pattern": r"^(?![\s\S]*TODO)", "message": "Leave no TODO."}


@pytest.mark.parametrize("rule", [NO_TODO, {"not": NO_TODO}], ids=["rule", "not"])
async def test_a_lone_negative_look_ahead_holds_for_notes_without_the_text(
    play: Player, rule: dict[str, Any]
) -> None:
    at = await play.start(definition("todo", step("write", validationCriteria=[rule]), step("after")))
    without, within = "a\n" * 30_000, "a\n" * 20_000 + "TODO"
    bad, good = (within, without) if rule is NO_TODO else (without, within)
    blocked = await play.advance(at, notesMarkdown=bad)
    assert (blocked["kind"], blocked["reason"]) == ("blocked", "validation_failed")
    assert (await play.advance(blocked, notesMarkdown=good))["pending"]["stepId"] == "after"


async def test_a_condition_that_is_a_negative_look_ahead_holds_for_values_without_the_text(
    play: Player,
) -> None:
    when = {"var": "plan", "matches": r"^(?!.*TODO)"}
    file = definition("plan", step("write"), step("after", runCondition=when), step("last"))
    for value, following in (("a todo", "last"), ("a" * 20_000, "after")):
        at = await play.start(file)
        assert (await play.advance(at, context={"plan": value}))["pending"]["stepId"] == following


@pytest.mark.rule("W30")
async def test_tokens_alone_advance_a_step_that_asks_for_nothing(play: Player) -> None:
    at = await play.start()
    for _ in range(3):
        at = await play.advance(at)
    assert at["isComplete"] is True


@pytest.mark.rule("W32")
async def test_both_the_first_and_the_fresh_token_can_be_used_after_a_block(play: Player) -> None:
    at = await play.start(NOTES)
    blocked = await play.advance(at)
    assert (await play.rehydrate(at))["ackToken"] == blocked["ackToken"]
    first = await play.advance(at, notesMarkdown="with the first")
    fresh = await play.advance(blocked, notesMarkdown="with the fresh one")
    assert first["pending"]["stepId"] == fresh["pending"]["stepId"] == "free"


@pytest.mark.rule("W34")
async def test_an_output_contract_says_field_by_field_what_is_wrong_and_its_example_passes(
    play: Player,
) -> None:
    at = await play.start(definition("contract", step("triage", outputContract=REVIEW), step("after")))
    missing = await play.advance(at)
    assert (missing["kind"], missing["reason"]) == ("blocked", "missing_output")
    bad = {"kind": "mr_review.phase_0_triage", "review": {"mrTitle": 7}}
    invalid = await play.advance(missing, output=bad)
    assert invalid["reason"] == "invalid_output"
    assert all(issue["path"].startswith("output") for issue in invalid["issues"])
    assert any("review" in issue["path"] for issue in invalid["issues"])
    assert invalid["example"]["kind"] == "mr_review.phase_0_triage"
    assert (await play.advance(invalid, output=invalid["example"]))["pending"]["stepId"] == "after"


@pytest.mark.rule("W35", "W36")
async def test_each_failing_rule_speaks_for_itself_and_at_most_ten_do(play: Player) -> None:
    rules = [{"type": "contains", "value": f"word{n:02}", "message": f"Say word{n:02}."} for n in range(14)]
    at = await play.start(definition("rules", step("say", validationCriteria={"and": rules})))
    blocked = await play.advance(at, notesMarkdown="word03")
    said = [issue["message"] for issue in blocked["issues"]]
    assert len(said) == 10 and said == sorted(said) and "Say word03." not in said
    again = await play.advance(await play.start("rules"), notesMarkdown="word03")
    assert again["issues"] == blocked["issues"]
    assert len(str(blocked["issues"]).encode()) < 16_384
    assert (await play.advance(blocked, notesMarkdown=blocked["notesExample"]))["isComplete"] is True


@pytest.mark.rule("W38")
async def test_a_poor_assessment_asks_for_its_follow_up(play: Player) -> None:
    assessed = definition(
        "assessed",
        step(
            "judge",
            assessmentRefs=["confidence"],
            assessmentConsequences=[
                {
                    "when": {"anyEqualsLevel": "low"},
                    "effect": {"kind": "require_followup", "guidance": "Look again at the tests."},
                }
            ],
        ),
        assessments=[
            {
                "id": "confidence",
                "purpose": "How sure you are",
                "dimensions": [{"id": "evidence", "purpose": "Evidence", "levels": ["low", "high"]}],
            }
        ],
    )
    at = await play.start(assessed)
    blocked = await play.advance(at)
    assert blocked["reason"] == "missing_assessment"
    low = {"kind": "wr.assessment", "assessmentId": "confidence", "dimensions": {"evidence": "low"}}
    follow_up = await play.advance(blocked, output=low)
    assert follow_up["reason"] == "assessment_followup"
    assert any("Look again at the tests." in issue["message"] for issue in follow_up["issues"])
    high = {**low, "dimensions": {"evidence": "high"}}
    assert (await play.advance(follow_up, output=high))["isComplete"] is True


@pytest.mark.rule("W39")
async def test_after_ten_blocked_attempts_in_a_row_there_is_an_error_and_the_run_can_still_be_saved(
    play: Player,
) -> None:
    at = await play.start(NOTES)
    for n in range(10):
        at = await play.advance(at, context={"attempt": n})
        assert at["kind"] == "blocked"
    before = await play.tables()
    for n in range(3):
        answer = await play.send(at, context={"attempt": 10 + n})
        assert answer.reason == "validation_error" and "ten attempts" in answer.payload["userMessage"]
        assert answer.payload["problems"]
        assert "Ten attempts in a row" in answer.payload["fixActionForAgent"]
        assert "before the user has answered" in answer.payload["stopRule"]
    assert await play.tables() == before
    assert (await play.advance(at, notesMarkdown="at last"))["pending"]["stepId"] == "free"


@pytest.mark.rule("W39")
async def test_an_advance_that_passes_ends_the_row_of_blocked_attempts(play: Player) -> None:
    at = await play.start(NOTES)
    for n in range(9):
        at = await play.advance(at, context={"attempt": n})
    await play.advance(at, notesMarkdown="passed")
    # A chat that was rewound to before it.
    for n in range(9, 19):
        at = await play.advance(at, context={"attempt": n})
        assert at["kind"] == "blocked"
    assert await play.reason(at, context={"attempt": 19}) == "validation_error"
    assert await play.journal_holds()


# ── loops ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.rule("W60")
async def test_a_loop_that_reaches_its_limit_says_so(play: Player) -> None:
    forever = loop("again", [step("body")], type="while", condition={"var": "more"}, maxIterations=3)
    at = await play.start(definition("forever", forever, step("end")), context={"more": True})
    for _ in range(2):
        at = await play.advance(at)
        assert "warnings" not in at
    at = await play.advance(at)
    assert [warning["code"] for warning in at["warnings"]] == ["loop_limit_reached"]
    assert at["pending"]["stepId"] == "end"


@pytest.mark.rule("W60")
@pytest.mark.parametrize(
    ("context", "code"),
    [
        ({}, "loop_items_unset"),
        ({"files": 3}, "loop_items_invalid"),
        ({"files": [1] * 6}, "loop_limit_exceeded"),
    ],
    ids=lambda value: str(value)[:20],
)
async def test_a_loop_without_its_items_or_with_too_many_blocks_at_its_entry(
    play: Player, context: Payload, code: str
) -> None:
    each = loop(
        "each", [step("body", prompt="Look at {{file}}.")], type="forEach", items="files", itemVar="file"
    )
    at = await play.start(definition("items", step("list"), each, step("end")))
    blocked = await play.advance(at, context=context)
    assert blocked["kind"] == "blocked"
    assert [(issue["path"], issue["code"]) for issue in blocked["issues"]] == [("context.files", code)]
    inside = await play.advance(blocked, context={"files": ["a.py", "b.py"]})
    assert inside["pending"]["prompt"] == "Look at a.py."


@pytest.mark.rule("W60")
async def test_a_run_whose_first_loop_lacks_its_items_waits_for_them(play: Player) -> None:
    each = loop(
        "each", [step("body", prompt="Look at {{file}}.")], type="forEach", items="files", itemVar="file"
    )
    blocked = await play.start(definition("first", each))
    assert (blocked["kind"], blocked["reason"], blocked["isComplete"]) == ("blocked", "loop_blocked", False)
    assert [(issue["path"], issue["code"]) for issue in blocked["issues"]] == [
        ("context.files", "loop_items_unset")
    ]
    assert blocked["pending"]["stepId"] == "each" and "context.files" in blocked["pending"]["prompt"]
    again = await play.advance(blocked, notesMarkdown="I do not know them.")
    assert again["kind"] == "blocked" and again["ackToken"] != blocked["ackToken"]
    assert (await play.rehydrate(again))["pending"] == blocked["pending"]
    inside = await play.advance(again, context={"files": ["a.py"]})
    assert (inside["pending"]["stepKey"], inside["pending"]["prompt"]) == ("each[1]/body", "Look at a.py.")
    assert (await play.advance(inside))["isComplete"]
    assert (await play.advance(again, context={"files": []}))["isComplete"], "another branch"
    assert (await play.start("first", context={"files": ["a"]}))["pending"]["stepId"] == "body"


@pytest.mark.rule("W60", "W11")
async def test_a_start_that_waits_for_a_loop_inside_a_loop_is_repeated_and_goes_on(play: Player) -> None:
    inner = loop("inner", [step("body")], type="for", count="times")
    workflow = definition("nested", loop("outer", [inner], type="forEach", items="files"), step("end"))
    play.write(workflow)
    blocked = await play.start("nested", context={"files": [1, 2]}, idempotencyKey="once")
    assert blocked == await play.start("nested", context={"files": [1, 2]}, idempotencyKey="once")
    assert [issue["path"] for issue in blocked["issues"]] == ["context.times"]
    at = await play.advance(blocked, context={"times": 1})
    keys = []
    while at["pending"]["stepId"] != "end":
        keys.append(at["pending"]["stepKey"])
        at = await play.advance(at)
    assert keys == ["outer[1]/inner[1]/body", "outer[2]/inner[1]/body"]


@pytest.mark.rule("W61", "W63")
async def test_iterations_have_keys_of_their_own_and_none_at_all_is_recorded(play: Player) -> None:
    each = loop("each", [step("body")], type="forEach", items="files")
    play.write(definition("keys", step("list"), each, step("end")))
    at = await play.advance(await play.start("keys"), context={"files": ["a", "b"]})
    keys = []
    while at["pending"]["stepId"] == "body":
        keys.append(at["pending"]["stepKey"])
        at = await play.advance(at)
    assert keys == ["each[1]/body", "each[2]/body"]
    none = await play.advance(await play.start("keys"), context={"files": []})
    assert none["pending"]["stepId"] == "end"
    [(_, acked)] = [
        event for event in await play.events(none["session"]["runId"]) if event[0] == "step_acked"
    ]
    assert [(e["kind"], e["loop_id"], e["iteration"]) for e in acked["loops"]] == [("loop_exited", "each", 0)]


@pytest.mark.rule("W62")
async def test_a_missing_loop_decision_blocks_and_its_example_decides(play: Player) -> None:
    waits = definition("waits", loop("the-loop", [step("body")], **ARTIFACT_LOOP), step("end"))
    at = await play.start(waits)
    blocked = await play.advance(at)
    assert (blocked["kind"], blocked["reason"]) == ("blocked", "loop_decision_missing")
    on = await play.advance(blocked, output=decision("continue"))
    assert on["pending"]["stepKey"] == "the-loop[2]/body"
    blocked = await play.advance(on)
    assert (await play.advance(blocked, output=blocked["example"]))["pending"]["stepId"] == "end"
