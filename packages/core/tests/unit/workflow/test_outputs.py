"""What a step asks for is checked by field, with an example that passes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.workflows.library import program_of, step

from assent.workflow import Advanced, Blocked, Complete, Content, Program, Snapshot, advance, start
from assent.workflow.contracts.registry import REGISTRY
from assent.workflow.issues import check_shape, mismatches


def begin(*steps: dict[str, Any], **more: Any) -> tuple[Program, Snapshot]:
    program = program_of(*steps, **more)
    outcome = start(program, {})
    assert isinstance(outcome, Advanced)
    return program, outcome.snapshot


def blocked(program: Program, snapshot: Snapshot, **content: Any) -> Blocked:
    outcome = advance(program, snapshot, Content(**content))
    assert isinstance(outcome, Blocked), outcome
    return outcome


def passes(program: Program, snapshot: Snapshot, **content: Any) -> bool:
    return isinstance(advance(program, snapshot, Content(**content)), Advanced | Complete)


def codes(outcome: Blocked) -> list[tuple[str, str]]:
    return [(issue.path, issue.code) for issue in outcome.issues]


@pytest.mark.rule("W30")
@pytest.mark.parametrize("fields", [{}, {"notesOptional": True}, {"hasValidation": True}])
def test_a_step_that_asks_for_nothing_advances_with_nothing_and_takes_notes(fields: dict[str, Any]) -> None:
    program, snapshot = begin(step("a-step", **fields))
    assert passes(program, snapshot) and passes(program, snapshot, notes="Done.")


@pytest.mark.rule("W30", "W31")
@pytest.mark.parametrize("notes", [None, "", " \n\t"])
def test_missing_or_blank_notes_block_where_they_are_required(notes: str | None) -> None:
    program, snapshot = begin(step("a-step", notesOptional=False))
    outcome = blocked(program, snapshot, notes=notes)
    assert (outcome.reason, codes(outcome)) == ("notes_required", [("notesMarkdown", "notes_required")])
    assert outcome.snapshot.at == snapshot.at
    assert passes(program, outcome.snapshot, notes=outcome.notes_example)


@pytest.mark.rule("W34")
@pytest.mark.parametrize("ref", sorted(REGISTRY))
def test_a_contract_blocks_without_output_and_its_example_passes(ref: str) -> None:
    program, snapshot = begin(step("a-step", outputContract={"contractRef": ref}))
    outcome = blocked(program, snapshot, notes="only notes")
    assert codes(outcome) == [("output", "missing_output")]
    assert outcome.example is not None
    assert passes(program, snapshot, output=outcome.example)
    assert passes(program, snapshot, output={"artifacts": [outcome.example], "notesMarkdown": "n"})


@pytest.mark.parametrize("ref", sorted(REGISTRY))
def test_the_example_of_a_contract_passes_its_own_schema(ref: str) -> None:
    contract = REGISTRY[ref]
    assert contract.schema is not None and contract.example is not None
    assert check_shape(contract.schema, "schema") == []
    assert mismatches(contract.example, contract.schema, "output") == []


@pytest.mark.rule("W34")
def test_issues_name_the_field_in_both_forms_of_an_output() -> None:
    program, snapshot = begin(step("a-step", outputContract={"contractRef": "mr_review.findings"}))
    bad = {"kind": "mr_review.findings", "findings": [{"severity": "Huge", "title": ""}]}
    assert codes(blocked(program, snapshot, output=bad)) == [
        ("output.findings[0].severity", "enum"),
        ("output.findings[0].title", "too_short"),
    ]
    assert (
        codes(blocked(program, snapshot, output={"artifacts": [bad]}))[0][0]
        == "output.artifacts[0].findings[0].severity"
    )


@pytest.mark.parametrize(
    ("output", "path"),
    [("text", "output"), ([], "output"), ({"x": 1}, "output.kind"), ({"artifacts": 1}, "output.artifacts"),
     ({"artifacts": [1]}, "output.artifacts[0]"), ({"artifacts": [{}]}, "output.artifacts[0].kind"),
     ({"kind": 3}, "output.kind"), ({"artifacts": [], "notesMarkdown": 1}, "output.notesMarkdown")],
)  # fmt: skip
def test_an_output_of_another_shape_blocks_on_any_step(output: Any, path: str) -> None:
    program, snapshot = begin(step("a-step"))
    assert codes(blocked(program, snapshot, output=output))[0][0] == path


def test_an_unknown_contract_takes_any_object_with_a_kind() -> None:
    program, snapshot = begin(step("a-step", outputContract={"contractRef": "team.unknown"}))
    assert codes(blocked(program, snapshot)) == [("output", "missing_output")]
    assert passes(program, snapshot, output={"kind": "anything"})


def test_an_optional_contract_may_be_left_out_but_not_be_wrong() -> None:
    program, snapshot = begin(
        step("a-step", outputContract={"contractRef": "wr.contracts.loop_control", "required": False})
    )
    assert passes(program, snapshot)
    assert codes(blocked(program, snapshot, output={"kind": "wr.loop_control", "decision": "maybe"})) == [
        ("output.decision", "enum")
    ]


def test_a_contract_written_into_the_step_is_held() -> None:
    schema = {
        "type": "object",
        "required": ["kind", "score"],
        "properties": {"score": {"type": "integer", "maximum": 5}},
    }
    contract = {"kind": "team.score", "schema": schema, "example": {"kind": "team.score", "score": 3}}
    program, snapshot = begin(step("a-step", outputContract=contract))
    assert codes(blocked(program, snapshot, output={"kind": "team.score", "score": 9})) == [
        ("output.score", "too_big")
    ]
    assert passes(program, snapshot, output=contract["example"])


RULES = {
    "and": [
        {"type": "contains", "value": "plan", "message": "Name the plan."},
        {"or": [
            {"type": "regex", "pattern": "\\bP\\d\\b", "message": "Give a priority."},
            {"type": "contains", "value": "no priority", "message": "Or say why not."},
        ]},
        {"not": {"type": "contains", "value": "TODO", "message": "Unfinished marks."}},
        {"type": "length", "min": 20, "condition": {"var": "size", "equals": "large"}, "message": "Say more."},
    ]
}  # fmt: skip


@pytest.mark.rule("W35")
def test_each_failing_rule_speaks_with_its_own_message() -> None:
    program, snapshot = begin(step("a-step", validationCriteria=RULES))
    outcome = blocked(program, snapshot, notes="todo", context={"size": "Large"})
    assert {issue.message for issue in outcome.issues} == {
        "Name the plan.", "Give a priority.", "Or say why not.", "Ruled out here: Unfinished marks.", "Say more.",
    }  # fmt: skip
    assert passes(program, snapshot, notes="The plan is P1.")
    assert outcome.notes_example is not None
    assert passes(program, snapshot, notes=outcome.notes_example, context={"size": "Large"})


def test_a_schema_rule_reads_the_output_or_the_notes_as_json() -> None:
    rule = {"type": "schema", "schema": {"type": "object", "required": ["n"]}, "message": "Send n."}
    program, snapshot = begin(step("a-step", validationCriteria=[rule]))
    assert passes(program, snapshot, notes='{"n": 1}')
    assert passes(program, snapshot, output={"kind": "x", "n": 1})
    assert [issue.message for issue in blocked(program, snapshot, notes="text").issues] == ["Send n."]


@pytest.mark.rule("W36")
def test_at_most_ten_blockers_come_in_a_stable_order_and_bounded() -> None:
    program, snapshot = begin(step("a-step", outputContract={"contractRef": "mr_review.findings"}))
    findings = [{"severity": "x" * 5_000, "title": "t"} for _ in range(40)]
    first, second = (
        blocked(program, snapshot, output={"kind": "mr_review.findings", "findings": findings})
        for _ in range(2)
    )
    assert len(first.issues) == 10 and first.issues == second.issues == tuple(sorted(first.issues))
    assert all(len(issue.message) <= 600 and len(issue.path) <= 200 for issue in first.issues)


ASSESSED = {
    "assessmentRefs": ["gate", "second"],
    "assessmentConsequences": [
        {"when": {"anyEqualsLevel": "low", "forAssessment": "gate"},
         "effect": {"kind": "require_followup", "guidance": "Look again."}}
    ],
}  # fmt: skip
ASSESSMENTS = [
    {
        "id": name,
        "purpose": "p",
        "dimensions": [{"id": f"{name}-care", "purpose": "p", "levels": ["low", "high"]}],
    }
    for name in ("gate", "second")
]


def assessed(**levels: str) -> dict[str, Any]:
    return {
        "artifacts": [
            {"kind": "wr.assessment", "assessmentId": name, "dimensions": {f"{name}-care": level}}
            for name, level in levels.items()
        ]
    }


@pytest.mark.rule("W38")
def test_the_consequence_of_an_assessment_asks_for_its_follow_up() -> None:
    program, snapshot = begin(step("a-step", **ASSESSED), assessments=ASSESSMENTS)
    missing = blocked(program, snapshot)
    assert {code for _, code in codes(missing)} == {"missing_assessment"}
    assert passes(program, snapshot, output=missing.example)
    low = blocked(program, snapshot, output=assessed(gate="Low", second="low"))
    assert (low.reason, [issue.message for issue in low.issues]) == ("assessment_followup", ["Look again."])
    assert passes(program, low.snapshot, output=assessed(gate="high", second="low"))
    odd = blocked(program, snapshot, output=assessed(gate="medium", second="low"))
    assert codes(odd) == [("output.artifacts[0].dimensions.gate-care", "enum")]


def test_an_assessment_without_consequence_may_be_left_out() -> None:
    program, snapshot = begin(step("a-step", assessmentRefs=["gate"]), assessments=ASSESSMENTS)
    assert passes(program, snapshot)


@pytest.mark.rule("W39")
def test_after_ten_blocked_attempts_in_a_row_the_answer_says_so() -> None:
    program, snapshot = begin(step("a-step", notesOptional=False), step("next-step", notesOptional=False))
    for _ in range(10):
        outcome = blocked(program, snapshot)
        assert not outcome.exhausted
        snapshot = outcome.snapshot
    assert blocked(program, snapshot).exhausted
    moved = advance(program, snapshot, Content(notes="At last."))
    assert isinstance(moved, Advanced) and moved.snapshot.blocked == 0


@pytest.mark.rule("W35")
@pytest.mark.parametrize("mode", ["a", "b", "none"])
def test_a_rule_that_does_not_apply_neither_passes_an_or_nor_fails_a_not(mode: str) -> None:
    def rule(word: str, only: str) -> dict[str, Any]:
        condition = {"var": "mode", "equals": only}
        return {"type": "contains", "value": word, "message": f"Say {word}", "condition": condition}

    both = step("a-step", validationCriteria={"or": [rule("alpha", "a"), rule("beta", "b")]})
    never = step("b-step", validationCriteria={"not": rule("alpha", "a")})
    program = program_of(both, never)
    outcome = start(program, {"mode": mode})
    assert isinstance(outcome, Advanced)
    wanted = {"a": ("alpha", "beta"), "b": ("beta", "alpha"), "none": ("anything", None)}[mode]
    if wanted[1] is not None:
        told = blocked(program, outcome.snapshot, notes=wanted[1])
        assert [issue.message for issue in told.issues] == [f"Say {wanted[0]}"]
        assert passes(program, outcome.snapshot, notes=told.notes_example)
    after = advance(program, outcome.snapshot, Content(notes=wanted[0]))
    assert isinstance(after, Advanced)
    assert passes(program, after.snapshot, notes="alpha") is (mode != "a")
