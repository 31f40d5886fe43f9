"""Notes that an author's rules let pass can be sent unchanged, for all the ways in which rules are put together."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.workflows.library import program_of, step

from assent.workflow import Advanced, Blocked, Complete, Content, advance, start


def contains(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "contains", "value": value, "message": f"Say {value}.", **more}


def regex(pattern: str, flags: str = "") -> dict[str, Any]:
    return {"type": "regex", "pattern": pattern, "flags": flags, "message": f"Fit {pattern}."}


def length(**bounds: float) -> dict[str, Any]:
    return {"type": "length", "message": f"Have {bounds}.", **bounds}


def schema(**shape: Any) -> dict[str, Any]:
    return {"type": "schema", "schema": shape, "message": "Fit the schema."}


CRITERIA: dict[str, Any] = {
    "a word": contains("Root Cause"),
    "letters beyond ASCII": [contains("Straße"), contains("日本語"), length(min=40, max=60)],
    "many words": [contains(f"word{n:02}") for n in range(25)],
    "a heading": regex("^## Findings$", "m"),
    "two lines": [regex("^Status: (ok|bad)", "m"), regex(r"^Owner: \w+", "m")],
    "a ticket": regex(r"[A-Z]{3,5}-[1-9]\d{2,}"),
    "a date": regex(r"^\d{4}-\d{2}-\d{2}$"),
    "a choice": regex("^(yes|no)$"),
    "nothing of a kind": regex(r"^(?!.*(?:bad1|\x7f))", "s"),
    "words apart": regex(r"\bPASS\b.*\bFAIL\b", "is"),
    "a negated set": regex("^[^a-z]+$"),
    "nothing between": regex("^(?:)*x?$"),
    "long": length(min=300.5),
    "short": length(max=10),
    "between": length(min=5, max=8),
    "long and named": [contains("alpha"), contains("beta"), length(min=300)],
    "all of": {"and": [contains("alpha"), regex(r"\bv\d+\.\d+\b")]},
    "one of": {"or": [contains("alpha"), contains("beta")]},
    "only the second": {"or": [{"and": [length(max=3), contains("long word")]}, contains("beta")]},
    "ruled out": {"not": contains("Done")},
    "named and ruled out": {"and": [contains("alpha"), {"not": contains("find")}]},
    "three deep": {
        "and": [
            {"or": [contains("x1"), contains("x2")]},
            {"not": {"or": [contains("bad1"), contains("Done")]}},
            {"and": [length(min=200)]},
        ]
    },
    "under a condition": [contains("risk", condition={"var": "high", "equals": True}), contains("plan")],
    "a document": schema(
        type="object",
        required=["n", "who"],
        properties={"n": {"type": "integer", "minimum": 3}, "who": {"enum": ["Ada"]}},
    ),
    "a list": schema(type="array", minItems=2, items={"type": "string", "minLength": 9}),
    "a text of a length": schema(type="string", minLength=12),
    "from the first letter to the last": [regex("^Plan.*end$"), contains("alpha"), regex(r"\d{3}")],
    "over several lines": [contains("alpha"), regex(r"^# Report[\s\S]+done$"), length(min=400)],
    "another length": [contains("alpha"), {"not": length(max=200)}, {"not": length(min=300)}],
    "the last before the first": [regex("beta$"), regex("^alpha"), contains("gamma")],
}


@pytest.mark.rule("W34", "W35")
@pytest.mark.parametrize("name", CRITERIA)
def test_the_example_of_notes_passes_unchanged(name: str) -> None:
    program = program_of(step("a-step", validationCriteria=CRITERIA[name]))
    begun = start(program, {"high": True})
    assert isinstance(begun, Advanced)
    for notes in ("Done: bad1, I find no more than this", "\x7f"):
        outcome = advance(program, begun.snapshot, Content(notes=notes))
        if isinstance(outcome, Blocked):
            assert outcome.notes_example, outcome.issues
            passed = advance(program, begun.snapshot, Content(notes=outcome.notes_example))
            assert isinstance(passed, Complete), passed


DOCUMENT = schema(type="object", required=["owner"], properties={"owner": {"type": "string"}})


@pytest.mark.rule("W34", "W35")
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"outputContract": {"contractRef": "team.unknown", "required": False}},
        {"outputContract": {"contractRef": "mr_review.changed_files"}},
        {"notesOptional": False},
    ],
)
@pytest.mark.parametrize(
    "rules",
    [
        [DOCUMENT, contains("alpha")],
        {"and": [regex("^Plan"), {"or": [DOCUMENT, contains("beta")]}]},
        {"and": [{"and": [DOCUMENT, length(min=80)]}, schema(type="object", required=["size"])]},
    ],
)
def test_a_schema_beside_rules_about_words_is_met_by_output_and_notes_together(rules: Any, more: Any) -> None:
    program = program_of(step("a-step", validationCriteria=rules, **more))
    begun = start(program)
    assert isinstance(begun, Advanced)
    outcome = advance(program, begun.snapshot, Content())
    assert isinstance(outcome, Blocked) and outcome.notes_example, outcome
    both = Content(output=outcome.example, notes=outcome.notes_example)
    assert isinstance(advance(program, begun.snapshot, both), Complete)


def test_rules_that_contradict_each_other_have_no_example() -> None:
    program = program_of(step("a-step", validationCriteria=[contains("x"), {"not": contains("x")}]))
    begun = start(program)
    assert isinstance(begun, Advanced)
    outcome = advance(program, begun.snapshot, Content(notes="y"))
    assert isinstance(outcome, Blocked) and outcome.notes_example is None


@pytest.mark.rule("W34")
def test_a_rule_about_the_output_is_met_by_the_output_and_not_by_the_notes() -> None:
    contract = {"contractRef": "mr_review.changed_files"}
    rule = schema(type="object", required=["changedFiles"])
    program = program_of(
        step("a-step", outputContract=contract, validationCriteria=[rule, contains("alpha")])
    )
    begun = start(program)
    assert isinstance(begun, Advanced)
    outcome = advance(program, begun.snapshot, Content())
    assert isinstance(outcome, Blocked) and outcome.notes_example
    for output in (outcome.example, {"artifacts": [outcome.example]}):
        both = Content(output=output, notes=outcome.notes_example)
        assert isinstance(advance(program, begun.snapshot, both), Complete)


@pytest.mark.rule("W49")
@pytest.mark.parametrize("levels", [65, 900, 5_000, 30_000])
def test_notes_that_nest_without_end_are_a_text(levels: int) -> None:
    rule = schema(type="array", uniqueItems=True, items={"type": "number"})
    program = program_of(step("a-step", validationCriteria=rule))
    begun = start(program)
    assert isinstance(begun, Advanced)
    outcome = advance(program, begun.snapshot, Content(notes="[" * levels + "]" * levels))
    assert isinstance(outcome, Blocked) and outcome.issues[0].code == "criteria_schema"
