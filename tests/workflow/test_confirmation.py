"""A step that needs a human waits for one, after everything else was found good."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workflow.library import decision, loop, program_of, step

from assent.workflow import (
    Advanced,
    Blocked,
    Complete,
    Content,
    Decision,
    NeedsConfirmation,
    Program,
    Snapshot,
    advance,
    pending,
    start,
    step_key,
)

APPROVED = Decision("approved")
REJECTED = Decision("rejected", "Not today.")


def begin(*steps: dict[str, Any], **context: Any) -> tuple[Program, Snapshot]:
    program = program_of(*steps)
    return program, start(program, context).snapshot


@pytest.mark.rule("W40")
@pytest.mark.parametrize(
    ("rule", "context", "waits"),
    [
        (True, {}, True),
        (False, {}, False),
        ({"var": "risk", "equals": "High"}, {"risk": "high"}, True),
        ({"var": "risk", "equals": "High"}, {"risk": "low"}, False),
        ({"kind": "human_approval"}, {}, True),
        ({"kind": "coordinator_eval", "condition": {"not": {"var": "ok"}}}, {"ok": True}, False),
        ({"kind": "human_approval", "condition": {"not": {"var": "ok"}}}, {}, True),
    ],
)
def test_each_way_to_write_a_confirmation_waits_when_it_holds(
    rule: Any, context: dict[str, Any], waits: bool
) -> None:
    program, snapshot = begin(step("a-step", requireConfirmation=rule), **context)
    shown = pending(program, snapshot)
    assert shown is not None and shown.require_confirmation is waits
    assert isinstance(advance(program, snapshot, Content()), NeedsConfirmation if waits else Complete)
    assert isinstance(advance(program, snapshot, Content(), APPROVED), Complete)


def test_content_cannot_talk_its_own_step_out_of_a_confirmation() -> None:
    rule = {"var": "risk", "equals": "high"}
    program, snapshot = begin(step("a-step", requireConfirmation=rule), risk="high")
    assert isinstance(advance(program, snapshot, Content(context={"risk": "low"})), NeedsConfirmation)
    program, snapshot = begin(step("a-step", requireConfirmation=rule), risk="low")
    assert isinstance(advance(program, snapshot, Content(context={"risk": "high"})), NeedsConfirmation)


def test_a_human_is_asked_only_for_what_could_go_on() -> None:
    program, snapshot = begin(step("a-step", requireConfirmation=True, notesOptional=False))
    assert isinstance(advance(program, snapshot, Content()), Blocked)
    program, snapshot = begin(
        step("a-step", requireConfirmation=True),
        loop("the-loop", [step("inner")], type="forEach", items="things"),
    )
    assert isinstance(advance(program, snapshot, Content()), Blocked)
    assert isinstance(advance(program, snapshot, Content(context={"things": []})), NeedsConfirmation)


@pytest.mark.rule("W40")
def test_a_rejected_step_stays_pending() -> None:
    program, snapshot = begin(step("a-step", requireConfirmation=True))
    outcome = advance(program, snapshot, Content(notes="n"), REJECTED)
    assert isinstance(outcome, NeedsConfirmation)
    assert (outcome.rejected, outcome.snapshot) == ("Not today.", snapshot)


@pytest.mark.rule("W40")
def test_a_rejection_that_continues_is_data_for_conditions_and_prompts() -> None:
    said = "wr.decisions.ask-them.decision"
    program, snapshot = begin(
        step("ask-them", requireConfirmation=True, onReject="continue"),
        step(
            "if-no",
            runCondition={"var": said, "equals": "rejected"},
            prompt="Why: {{wr.decisions.ask-them.reason}}",
        ),
        step("if-yes", runCondition={"var": said, "equals": "approved"}),
    )
    no = advance(program, snapshot, Content(), REJECTED)
    yes = advance(program, snapshot, Content(), APPROVED)
    assert isinstance(no, Advanced) and isinstance(yes, Advanced)
    assert (step_key(program, no.snapshot), step_key(program, yes.snapshot)) == ("if-no", "if-yes")
    shown = pending(program, no.snapshot)
    assert shown is not None and shown.prompt == "Why: Not today."


@pytest.mark.rule("W40")
def test_an_action_always_waits_and_carries_its_call() -> None:
    action = {"tool": "chieflab_post", "args": {"body": "{{text}}", "tags": "{{tags}}", "n": 1}}
    program, snapshot = begin(step("a-step", action=action, requireConfirmation=False), text="Hello")
    shown = pending(program, snapshot)
    assert shown is not None and shown.require_confirmation
    assert shown.action == {
        "tool": "chieflab_post",
        "args": {"body": "Hello", "tags": "[unset: tags]", "n": 1},
    }
    outcome = advance(program, snapshot, Content(context={"tags": ["a"]}))
    assert isinstance(outcome, NeedsConfirmation)
    assert outcome.action == {"tool": "chieflab_post", "args": {"body": "Hello", "tags": ["a"], "n": 1}}


def test_a_confirmed_loop_decision_needs_both() -> None:
    body = [
        step("decide", requireConfirmation=True, outputContract={"contractRef": "wr.contracts.loop_control"})
    ]
    source = {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control"}
    program, snapshot = begin(loop("the-loop", body, type="while", conditionSource=source))
    assert isinstance(advance(program, snapshot, Content(), APPROVED), Blocked)
    assert isinstance(advance(program, snapshot, Content(output=decision("stop"))), NeedsConfirmation)
    assert isinstance(advance(program, snapshot, Content(output=decision("stop")), APPROVED), Complete)
