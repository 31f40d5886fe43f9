"""The schema for editors: it takes what the compiler takes, and refuses what one place of a file shows to be wrong."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from tests.support.workflows.library import (
    ARTIFACT_LOOP,
    builtin_files,
    document,
    loop,
    public_files,
    read,
    step,
)

from assent.workflow import DefinitionRefused, parse
from assent.workflow.definition.format import STEP_SHAPES, WORKFLOW
from assent.workflow.definition.schema import definition_schema
from assent.workflow.machine.conditions import MATCHES, OPERATORS

SCHEMA: dict[str, Any] = json.loads(definition_schema())
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
COUNTED: dict[str, Any] = {"type": "for", "count": 2}
CONTRACT: dict[str, Any] = {
    "kind": "a.b",
    "schema": {"type": "object", "properties": {"n": {"type": ["integer", "null"], "minimum": 1}}},
    "example": {"kind": "a.b", "n": 1},
}
RULE: dict[str, Any] = {"type": "contains", "value": "done", "message": "say done"}
CONSEQUENCE: dict[str, Any] = {
    "when": {"anyEqualsLevel": "low"},
    "effect": {"kind": "require_followup", "guidance": "again"},
}
ASSESSED: dict[str, Any] = {
    "assessments": [
        {
            "id": "sure",
            "purpose": "p",
            "dimensions": [{"id": "d", "purpose": "p", "levels": ["low", "high"]}],
        }
    ]
}


def each(field: str, *values: Any) -> list[Any]:
    """A definition for each value of a field of its step."""
    return [document(step("a-step", **{field: value})) for value in values]


GOOD: list[Any] = [
    document(step("a-step")),
    document(step("a-step"), **{"$schema": "http://localhost:8080/workflow.schema.json"}),
    document(step("a-step", type="step", runCondition={"var": "x", "contains": True})),
    document(step("a-step", runCondition={"and": [{"var": "x"}, {"not": {"var": "y", "in": [1, None]}}]})),
    *each(
        "requireConfirmation",
        True,
        False,
        {"var": "x"},
        {"kind": "human_approval"},
        {"kind": "coordinator_eval", "condition": {"var": "x", "gte": 2.5}},
    ),
    *each(
        "validationCriteria",
        RULE,
        [],
        [RULE, [RULE]],
        {"and": [RULE]},
        {"not": RULE},
        {"or": [{"not": [RULE]}]},
        {"type": "length", "max": 5, "message": "m", "condition": {"var": "x"}},
        {"type": "schema", "message": "m", "schema": CONTRACT["schema"]},
    ),
    document(step("a-step", outputContract=CONTRACT)),
    document(step("a-step", outputContract={"contractRef": "wr.contracts.handoff", "required": False})),
    document(step("a-step", assessmentRefs=["sure"], assessmentConsequences=[CONSEQUENCE]), **ASSESSED),
    document(step("a-step", promptFragments=[{"id": "f", "text": "t", "when": {"var": "x"}}])),
    document(loop("the-loop", [loop("inner-loop", [step("inner")], **COUNTED)], **ARTIFACT_LOOP)),
    document(step("a-step"), loop("the-loop", "a-step", type="forEach", items="things", itemVar="thing")),
    document(loop("the-loop", [step("inner")], type="until", condition={"var": "x"}, maxIterations=5.0)),
    document(
        loop(
            "the-loop",
            [step("inner")],
            type="until",
            conditionSource={"kind": "context_variable", "condition": {"var": "x"}},
        )
    ),
    document(
        {
            "id": "all-of-it",
            "type": "parallel",
            "title": "t",
            "parallelDelegations": [{"workflowId": "w", "runCondition": {"var": "x"}}],
        }
    ),
]

BAD: list[Any] = [
    [],
    document(),
    {**document(step("a-step")), "version": 3},
    {**document(step("a-step")), "nmae": "x"},
    document({"id": "a-step"}),
    document(step("a")),
    document(step("a-step", type="maze")),
    document(step("a-step", promt="x")),
    document(step("a-step", onReject="explode")),
    *each(
        "runCondition",
        {},
        [],
        {"equals": 1},
        {"var": " "},
        {"var": "x", "eq": 1},
        {"var": "x", "gt": "3"},
        {"var": "x", "matches": 3},
        {"and": {"var": "x"}},
        {"not": {"or": [{}]}},
        {"var": "v", "contains": {"a": 1}},
        {"var": "v", "in": "abc"},
    ),
    *each(
        "requireConfirmation",
        "yes",
        {},
        {"kind": "dice"},
        {"kind": "human_approval", "more": 1},
        {"kind": "human_approval", "condition": True},
    ),
    *each(
        "validationCriteria",
        "x",
        {"and": []},
        {"and": [RULE], "or": [RULE]},
        {"not": RULE, "message": "m"},
        [{"or": RULE}],
        {"type": "regex", "message": "m"},
        {"type": "length", "message": "m"},
        {**RULE, "condition": {}},
        {"type": "schema", "message": "m", "schema": {"typ": 1}},
    ),
    *each(
        "outputContract",
        {},
        {"kind": "a.b"},
        {**CONTRACT, "schema": {"type": "objekt"}},
        {"schema": {}, "contractRef": "x"},
        {**CONTRACT, "schema": {"items": {"minLength": -1}}},
    ),
    document(step("a-step", assessmentConsequences=[CONSEQUENCE]), **ASSESSED),
    document(loop("the-loop", [step("inner")], **COUNTED, extra=1)),
    document(loop("the-loop", [step("inner", promt="x")], **COUNTED)),
    document(loop("the-loop", [], **COUNTED)),
    *(
        document(loop("the-loop", [step("inner")], type=kind))
        for kind in ("while", "until", "for", "forEach")
    ),
    document(loop("the-loop", [step("inner")], type="for", count=1, maxIterations=1001)),
    document(loop("the-loop", [step("inner")], **COUNTED, itemVar="wr")),
    document(loop("the-loop", [step("inner")], type="while", conditionSource={"kind": "dice"})),
    document(loop("the-loop", [step("inner")], type="while", conditionSource={"kind": "context_variable"})),
    document({"id": "the-loop", "title": "t", "loop": COUNTED, "body": [step("inner")]}),
    document({"id": "all-of-it", "type": "parallel", "title": "t", "parallelDelegations": []}),
]


def accepts(value: Any) -> bool:
    try:
        parse(value, "a.json")
    except DefinitionRefused:
        return False
    return True


def test_the_schema_is_valid_and_has_every_field_and_operator() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert set(SCHEMA["properties"]) == set(WORKFLOW["properties"])
    steps = [
        SCHEMA["definitions"][name]["properties"] for name in ("standardStep", "loopStep", "parallelStep")
    ]
    assert [set(each) for each in steps] == [set(shape["properties"]) for shape in STEP_SHAPES.values()]
    assert {*OPERATORS, MATCHES, "var", "and", "or", "not"} == set(
        SCHEMA["definitions"]["condition"]["properties"]
    )


def test_every_definition_of_the_libraries_fits() -> None:
    files = [*public_files(), *builtin_files()]
    found = {path.name: [error.message for error in VALIDATOR.iter_errors(read(path))] for path in files}
    assert {name: errors for name, errors in found.items() if errors} == {}


@pytest.mark.parametrize("value", GOOD)
def test_what_the_compiler_takes_fits(value: Any) -> None:
    assert accepts(value) and [error.message for error in VALIDATOR.iter_errors(value)] == []


@pytest.mark.parametrize("value", BAD)
def test_what_the_compiler_refuses_for_its_form_does_not_fit(value: Any) -> None:
    assert (accepts(value), VALIDATOR.is_valid(value)) == (False, False)
