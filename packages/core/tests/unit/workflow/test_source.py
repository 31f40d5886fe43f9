"""A definition is checked whole: every error has its path, its code and what to write instead."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.workflows.library import ARTIFACT_LOOP, document, loop, step

from assent.workflow import Definition, DefinitionRefused, compile_definition, parse

pytestmark = pytest.mark.rule("W59")


def codes(value: Any) -> set[tuple[str, str]]:
    with pytest.raises(DefinitionRefused) as refused:
        parse(value, "bad.json")
    assert all(issue.message for issue in refused.value.issues)
    return {(issue.path, issue.code) for issue in refused.value.issues}


def test_a_plain_definition_is_read() -> None:
    assert isinstance(parse(document(step("first-step")), "good.json"), Definition)


@pytest.mark.parametrize(
    ("steps", "path", "code"),
    [
        ([loop("the-loop", [step("inner")], type="while", conditionSource={"kind": {}})],
         "$.steps[0].loop.conditionSource.kind", "enum"),
        ([loop("the-loop", [step("inner")], type="for", count=2, itemVar="wr")],
         "$.steps[0].loop.itemVar", "reserved_key"),
        ([loop("the-loop", [step("inner")], type="for", count=2, itemVar=[])], "$.steps[0].loop.itemVar", "type"),
        ([step("a-step", validationCriteria=[{"type": "length", "min": 5, "max": 2, "message": "m"}])],
         "$.steps[0].validationCriteria[0].max", "too_small"),
        ([step("same-id"), step("same-id")], "$.steps[1].id", "duplicate_id"),
        ([loop("the-loop", [step("same-id")], type="for", count=2), step("same-id")], "$.steps[1].id", "duplicate_id"),
        ([step("../etc/passwd")], "$.steps[0].id", "pattern"),
        ([step("a-step\n")], "$.steps[0].id", "pattern"),
        ([step("a-step", runCondition={"var": "x", "eq": 1})], "$.steps[0].runCondition.eq", "unknown_operator"),
        ([step("a-step", runCondition={"equals": 1})], "$.steps[0].runCondition.var", "required"),
        ([step("a-step", runCondition={})], "$.steps[0].runCondition", "empty"),
        ([step("a-step", runCondition={"var": "x", "gt": "3"})], "$.steps[0].runCondition.gt", "type"),
        ([step("a-step", runCondition={"var": "x", "matches": "("})], "$.steps[0].runCondition.matches", "pattern"),
        ([step("a-step", requireConfirmation={"kind": "dice"})], "$.steps[0].requireConfirmation.kind", "enum"),
        ([step("a-step", type="maze")], "$.steps[0].type", "enum"),
        ([loop("the-loop", "nowhere", type="for", count=2)], "$.steps[0].body", "unknown_step"),
        ([loop("the-loop", "the-loop", type="for", count=2)], "$.steps[0].body", "cycle"),
        (
            [loop("loop-a", "loop-b", type="for", count=2), loop("loop-b", "loop-a", type="for", count=2)],
            "$.steps[0].body",
            "cycle",
        ),
        ([loop("the-loop", [step("inner")], type="while")], "$.steps[0].loop.condition", "required"),
        ([loop("the-loop", [step("inner")], type="for")], "$.steps[0].loop.count", "required"),
        ([loop("the-loop", [step("inner")], type="forEach")], "$.steps[0].loop.items", "required"),
        ([loop("the-loop", [step("inner")], **ARTIFACT_LOOP, extra=1)], "$.steps[0].loop.extra", "unknown_field"),
        ([loop("the-loop", [step("inner")], type="for", count=1, maxIterations=1001)],
         "$.steps[0].loop.maxIterations", "too_big"),
        ([step("a-step", assessmentRefs=["none"])], "$.steps[0].assessmentRefs[0]", "unknown_assessment"),
        ([step("a-step", validationCriteria=[{"type": "regex", "message": "m"}])],
         "$.steps[0].validationCriteria[0].pattern", "required"),
        ([step("a-step", validationCriteria={"and": [], "or": []})], "$.steps[0].validationCriteria", "ambiguous"),
        ([step("a-step", outputContract={"kind": "x.y", "schema": {"type": "object", "required": ["z"]},
                                         "example": {"kind": "x.y"}})],
         "$.steps[0].outputContract.example.z", "required"),
        ([step("a-step", outputContract={})], "$.steps[0].outputContract.contractRef", "required"),
        ([step("a-step", runCondition={"var": "v", "contains": {"a": 1}})], "$.steps[0].runCondition.contains", "type"),
    ],
)  # fmt: skip
def test_an_error_is_named_by_path_and_code(steps: list[dict[str, Any]], path: str, code: str) -> None:
    assert (path, code) in codes(document(*steps))


@pytest.mark.parametrize("kind", ["loop", "parallel"])
def test_a_forgotten_type_is_the_only_thing_to_add(kind: str) -> None:
    whole: dict[str, Any] = {
        "loop": loop("the-loop", [step("inner")], type="for", count=2),
        "parallel": {"id": "the-work", "title": "t", "parallelDelegations": [{"workflowId": "wr.x"}]},
    }[kind]
    told = {key: value for key, value in whole.items() if key != "type"}
    assert codes(document(told)) == {("$.steps[0].type", "required")}


def test_more_patterns_than_an_agent_can_wait_for_are_refused() -> None:
    rule = {"type": "regex", "pattern": "(a|b)*c$", "message": "m"}

    def steps(count: int) -> dict[str, Any]:
        return document(step("a-step", validationCriteria={"and": [*[rule] * (count - 1), {"not": rule}]}))

    assert isinstance(parse(steps(32), "good.json"), Definition)
    assert codes(steps(33)) == {("$.steps[0].validationCriteria", "too_many")}


def test_a_loop_without_a_bound_is_refused() -> None:
    endless = {
        "id": "the-loop",
        "type": "loop",
        "title": "t",
        "loop": {"type": "for", "count": 2},
        "body": [step("inner")],
    }
    assert ("$.steps[0].loop.maxIterations", "required") in codes(document(endless))


def test_all_errors_are_reported_and_not_only_the_first() -> None:
    found = codes(document(step("a-step", title=""), step("B"), name=""))
    assert {("$.name", "too_short"), ("$.steps[0].title", "too_short"), ("$.steps[1].id", "pattern")} <= found


def test_loops_may_nest_but_not_without_end() -> None:
    body: Any = [step("innermost")]
    for level in range(6):
        body = [loop(f"loop-{level}", body, type="for", count=1)]
    assert parse(document(*body), "deep.json")
    assert ("$.steps[0].body[0].body[0].body[0].body[0].body[0].body[0]", "too_deep") in codes(
        document(loop("outermost", body, type="for", count=1))
    )


def test_too_many_steps_and_too_large_a_file_are_refused() -> None:
    assert ("$.steps", "too_many") in codes(document(*[step(f"step-{n}") for n in range(1001)]))
    assert codes(document(step("a-step"), about="x" * 1_100_000)) == {("$", "too_large")}


@pytest.mark.parametrize("value", [float("nan"), 2**60, "\ud800", object()])
def test_a_value_without_a_json_form_is_refused(value: Any) -> None:
    odd = step("a-step", runCondition={"var": "x", "equals": [1, value]})
    assert codes(document(step("before"), odd)) == {("$.steps[1].runCondition.equals[1]", "not_json")}


def test_a_name_of_any_length_makes_no_long_answer() -> None:
    with pytest.raises(DefinitionRefused) as refused:
        parse({**document(step("a-step")), "k" * 100_000: 1}, "bad.json")
    assert sum(len(issue.path + issue.message) for issue in refused.value.issues) < 1_000


def test_a_name_without_a_json_form_is_refused() -> None:
    ((path, code),) = codes(document(step("a-step", runCondition={"\ud800": "x"})))
    assert (path, code) == ("$.steps[0].runCondition.?", "not_json")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
FIELDS = ("loop", "body", "runCondition", "requireConfirmation", "validationCriteria", "outputContract", "promptBlocks",
          "promptFragments", "assessmentRefs", "assessmentConsequences", "templateCall", "type", "parallelDelegations",
          "synthesis", "audit", "action", "functionReferences", "id", "title")  # fmt: skip


@given(json_values)
def test_any_document_is_read_or_refused_with_issues(value: Any) -> None:
    try:
        parse(value, "any.json")
    except DefinitionRefused as refused:
        assert refused.issues


@given(st.dictionaries(st.sampled_from(FIELDS), json_values), st.sampled_from(["step", "loop", "parallel"]))
def test_any_step_is_read_or_refused_with_issues(fields: dict[str, Any], kind: str) -> None:
    try:
        parse(
            document({**step("a-step"), "type": kind, **fields}, assessments=fields.get("title", [])),
            "any.json",
        )
    except DefinitionRefused as refused:
        assert refused.issues


def test_a_dimension_is_named_once() -> None:
    dimension = {"id": "same", "purpose": "How sure", "levels": ["low", "high"]}
    again = {**dimension, "purpose": "How else"}
    gate = {"id": "gate", "purpose": "Ready", "dimensions": [dimension, again]}
    whole = {**document(step("a-step", assessmentRefs=["gate"])), "assessments": [gate]}
    assert ("$.assessments[0].dimensions[1].id", "duplicate_id") in codes(whole)


def test_values_are_shown_as_their_author_wrote_them_and_the_nearest_field_is_named() -> None:
    with pytest.raises(DefinitionRefused) as refused:
        parse({**document(step("a-step", promt="x")), "description": None, "name": False}, "bad.yaml")
    told = {issue.path: issue.message for issue in refused.value.issues}
    assert "this is null" in told["$.description"] and "this is false" in told["$.name"]
    assert "did you mean prompt?" in told["$.steps[0].promt"]


EVERYTHING: dict[str, Any] = {
    **document(
        step(
            "first",
            runCondition={"or": [{"var": "x", "in": [1]}, {"not": {"var": "y", "matches": "a"}}]},
            validationCriteria={"and": [{"type": "length", "min": 1, "message": "m", "condition": {"var": "x"}}]},
            promptFragments=[{"id": "more", "when": {"var": "x"}, "text": "t"}],
            requireConfirmation={"kind": "human_approval", "condition": {"var": "x"}},
            functionCalls=[{"name": "look", "args": {"a": 1}}],
            audit={"prompt": "p", "rubric": ["r"]},
            verification={"command": "c"},
        ),
        step(
            "second",
            outputContract={"kind": "k", "schema": {"type": "object"}, "example": {"kind": "k"}},
            assessmentRefs=["gate"],
            assessmentConsequences=[
                {"when": {"anyEqualsLevel": "low"}, "effect": {"kind": "require_followup", "guidance": "g"}}
            ],
        ),
        {"id": "third", "title": "T", "promptBlocks": {"goal": [{"kind": "ref", "refId": "r"}], "verify": ["v"]}},
        {"id": "fourth", "title": "T", "templateCall": {"templateId": "t", "args": {"a": 1}}},
        {"id": "fifth", "type": "parallel", "title": "P", "synthesis": {"prompt": "s"},
         "parallelDelegations": [{"workflowId": "w", "contextMapping": {"a": "b"}, "runCondition": {"var": "x"}}]},
        loop("sixth", [step("inner")], **ARTIFACT_LOOP),
        loop("seventh", "first", type="forEach", items="things", itemVar="thing"),
        step("eighth", action={"tool": "chieflab_launch_product", "args": {"a": "{{x}}"}}),
    ),
    "assessments": [
        {"id": "gate", "purpose": "p", "dimensions": [{"id": "d", "purpose": "p", "levels": ["low", "high"]}]}
    ],
    "functionDefinitions": [{"name": "look", "definition": "d", "parameters": [{"name": "a", "type": "string"}]}],
    "extensionPoints": [{"slotId": "slot", "purpose": "p", "default": "d"}],
    "references": [{"id": "ref", "title": "t", "source": "s", "purpose": "p", "authoritative": True}],
}  # fmt: skip


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([way] if way else []), *(place for key, part in inner for place in places(part, (*way, key)))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "odd", [None, True, -1, 1.5, "", "x", [], {}, [None], [[]], {"kind": {}}, {"var": []}], ids=repr
)
def test_a_value_of_any_kind_anywhere_is_read_or_refused_by_its_path(odd: Any) -> None:
    assert isinstance(parse(EVERYTHING, "good.json"), Definition)
    for *way, last in places(EVERYTHING):
        whole = copy.deepcopy(EVERYTHING)
        place: Any = whole
        for key in way:
            place = place[key]
        place[last] = odd
        try:
            compile_definition(parse(whole, "odd.json"), {}, file="odd.json")
        except DefinitionRefused as refused:
            assert all(issue.path.startswith("$") and issue.message for issue in refused.issues)
