"""A step that needs a human waits for one, after everything else was found good."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.workflows.library import decision, document, loop, program_of, step

from assent.workflow import (
    Advanced,
    Blocked,
    Complete,
    Content,
    Decision,
    DefinitionRefused,
    NeedsConfirmation,
    Program,
    Snapshot,
    advance,
    compile_definition,
    parse,
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


def called(routine: list[dict[str, Any]], *after: dict[str, Any], **caller: Any) -> Program:
    """A workflow that calls a routine with these steps, and goes on with those."""
    given = parse({**document(*routine), "id": "wr.routine-called"}, "routine.json")
    call = {
        "id": "call",
        "title": "The call",
        "templateCall": {"templateId": "wr.templates.routine.called"},
        **caller,
    }
    return compile_definition(parse(document(call, *after), "test.json"), {given.id: given}).program


def asked_at(program: Program, decision: Decision = APPROVED, limit: int = 20) -> tuple[list[str], list[str]]:
    """The steps that are passed, and those of them at which a person is asked, each of whom decides alike."""
    at = start(program)
    passed: list[str] = []
    asked: list[str] = []
    while not isinstance(at, Complete):
        assert len(passed) < limit and not isinstance(at, Blocked | NeedsConfirmation)
        shown = pending(program, at.snapshot)
        assert shown is not None
        passed.append(shown.step_id)
        after = advance(program, at.snapshot, Content())
        if isinstance(after, NeedsConfirmation):
            asked.append(passed[-1])
            after = advance(program, at.snapshot, Content(), decision)
        assert not isinstance(after, Blocked | NeedsConfirmation)
        at = after
    return passed, asked


@pytest.mark.rule("W40")
@pytest.mark.parametrize(
    ("last", "asks"),
    [
        ([step("last")], ["call.last"]),
        ([loop("last", [step("body")], type="for", count=2)], ["call"]),
        ([step("last", runCondition={"var": "never"})], ["call"]),
        ([step("last", requireConfirmation=True)], ["call.last"]),
        ([step("last", requireConfirmation={"var": "never"})], ["call"]),
        ([step("last", action={"tool": "chieflab_post"})], ["call.last"]),
        ([loop("last", "body", type="for", count=2), step("body")], ["call"]),
        ([step("confirm"), loop("last", [step("body")], type="for", count=2)], ["call"]),
        ([step("last", verification={"command": "make test"})], ["call"]),
    ],
)
def test_a_call_that_must_be_confirmed_is_whatever_its_routine_ends_with(
    last: list[dict[str, Any]], asks: list[str]
) -> None:
    passed, asked = asked_at(called([step("first"), *last], step("after"), requireConfirmation=True))
    assert asked == asks
    assert passed[-1] == "after" and passed.index(asks[-1]) == len(passed) - 2


@pytest.mark.rule("W40")
def test_the_rule_of_a_call_takes_no_gate_away_from_its_routine() -> None:
    gated = [step("first"), step("last", requireConfirmation=True)]
    assert asked_at(called(gated, requireConfirmation={"var": "never"}))[1] == ["call.last"]


@pytest.mark.rule("W40")
def test_a_call_that_is_skipped_asks_nobody() -> None:
    skipped = called(
        [loop("last", [step("body")], type="for", count=2)],
        step("after"),
        requireConfirmation=True,
        runCondition={"var": "never"},
    )
    assert asked_at(skipped) == (["after"], [])


@pytest.mark.rule("W40")
def test_decisions_in_a_routine_are_read_inside_it_and_by_its_caller() -> None:
    routine = [
        step("release", requireConfirmation=True, onReject="continue"),
        step("sorry", runCondition={"var": "wr.decisions.release.decision", "equals": "rejected"}),
        step("party", runCondition={"var": "wr.decisions.release.decision", "equals": "approved"}),
    ]
    after = [
        step("by-step", runCondition={"var": "wr.decisions.call.release.reason", "contains": "today"}),
        step("by-call", runCondition={"var": "wr.decisions.call.decision", "equals": "rejected"}),
    ]
    assert asked_at(called(routine, *after), REJECTED)[0] == [
        "call.release",
        "call.sorry",
        "by-step",
        "by-call",
    ]
    assert asked_at(called(routine, *after))[0] == ["call.release", "call.party"]


@pytest.mark.rule("W40")
def test_a_decision_before_a_loop_is_read_under_the_loop() -> None:
    gated = {
        **loop("each", [step("body")], type="for", count=1),
        "requireConfirmation": True,
        "onReject": "continue",
    }
    told = step("told", runCondition={"var": "wr.decisions.each.decision", "equals": "rejected"})
    assert asked_at(program_of(gated, told), REJECTED)[0][-1] == "told"
    assert asked_at(program_of(gated, told))[0][-1] == "body"


@pytest.mark.rule("W40")
def test_where_a_rejection_stays_the_rejection_is_told_and_not_where_it_would_lead() -> None:
    program = program_of(
        step("release", requireConfirmation=True),
        {
            **loop("redo", [step("body")], type="forEach", items="things"),
            "runCondition": {"var": "wr.decisions.release.decision", "equals": "rejected"},
        },
    )
    at = start(program)
    refused = advance(program, at.snapshot, Content(), REJECTED)
    assert isinstance(refused, NeedsConfirmation) and refused.rejected == "Not today."


def test_a_step_with_an_action_waits_for_that_and_for_no_plan() -> None:
    rule = {"kind": "plan", "condition": {"var": "risk", "equals": "high"}}
    with pytest.raises(DefinitionRefused) as refused:
        parse(document(step("post", action={"tool": "chieflab_post"}, requireConfirmation=rule)), "w.json")
    assert [each.code for each in refused.value.issues] == ["plan_with_action"]
    parse(document(step("agree", requireConfirmation=rule)), "w.json")
