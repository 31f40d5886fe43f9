"""Context and notes are bounded in bytes, and updated by simple rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.workflows.library import program_of, step

from assent.kernel.canonical import canonical
from assent.kernel.limits import MAX_CONTEXT_BYTES, MAX_NOTES_BYTES
from assent.workflow import (
    Advanced,
    Complete,
    Content,
    ContentRefused,
    advance,
    check_notes,
    pending,
    split_notes,
    start,
)
from assent.workflow.machine.content import EMPTY_BYTES, update

PROGRAM = program_of(step("first-step"), step("second-step"))


def context_of(size: int, char: str = "x") -> dict[str, Any]:
    room = size - len(canonical({"k": ""}))
    width = len(char.encode())
    return {"k": char * (room // width) + "x" * (room % width)}


@pytest.mark.rule("W47", "W48")
@pytest.mark.parametrize("char", ["x", "é", "€", "😀"])
def test_context_is_bounded_in_bytes_of_canonical_json(char: str) -> None:
    whole = context_of(MAX_CONTEXT_BYTES, char)
    outcome = start(PROGRAM, whole)
    assert outcome.snapshot.context == whole and outcome.snapshot.context_bytes == MAX_CONTEXT_BYTES
    with pytest.raises(ContentRefused) as refused:
        start(PROGRAM, context_of(MAX_CONTEXT_BYTES + 1, char))
    assert refused.value.code == "context_too_large"
    assert (refused.value.measured, refused.value.allowed) == (MAX_CONTEXT_BYTES + 1, MAX_CONTEXT_BYTES)


@pytest.mark.rule("W47")
def test_updates_add_up_to_the_bound() -> None:
    snapshot = start(PROGRAM, context_of(MAX_CONTEXT_BYTES - 8)).snapshot
    assert isinstance(advance(PROGRAM, snapshot, Content(context={"a": 123})), Advanced)
    with pytest.raises(ContentRefused):
        advance(PROGRAM, snapshot, Content(context={"a": 1234}))


@pytest.mark.rule("W49")
def test_context_nested_too_deep_is_refused() -> None:
    deep: Any = 1
    for _ in range(63):
        deep = [deep]
    assert start(PROGRAM, {"k": deep}).snapshot.context == {"k": deep}
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ContentRefused) as refused:
        start(PROGRAM, {"k": deep})
    assert (refused.value.code, refused.value.issues[0].code) == ("validation_error", "too_deep")


names = st.text(max_size=3).filter(lambda name: not name.startswith("wr."))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)
patches = st.lists(st.dictionaries(st.sampled_from("abcd"), values, max_size=4), max_size=6)


@pytest.mark.rule("W52")
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(patches)
def test_null_deletes_a_key_and_other_values_replace_it_whole(updates: list[dict[str, Any]]) -> None:
    context: dict[str, Any] = {}
    size = EMPTY_BYTES
    model: dict[str, Any] = {}
    for patch in updates:
        context, size = update(context, size, patch)
        for key, value in patch.items():
            model.pop(key, None)
            if value is not None:
                model[key] = value
        assert context == model and size == len(canonical(model))


@pytest.mark.rule("W53")
@pytest.mark.parametrize(
    ("patch", "path"),
    [
        ({"__proto__": 1}, "context.__proto__"),
        ({"constructor": 1}, "context.constructor"),
        ({"prototype": None}, "context.prototype"),
        ({"wr": {}}, "context.wr"),
        ({"wr.decisions": {}}, "context.wr.decisions"),
        ({"a": [{"__proto__": 1}]}, "context.a[].__proto__"),
    ],
)
def test_a_reserved_key_is_a_validation_error(patch: dict[str, Any], path: str) -> None:
    with pytest.raises(ContentRefused) as refused:
        start(PROGRAM, patch)
    assert (refused.value.code, refused.value.issues[0].path) == ("validation_error", path)


@pytest.mark.rule("W54")
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, -(2**53), "\ud800", {"\udfff": 1}])
def test_a_value_without_a_canonical_form_is_refused_every_time(value: Any) -> None:
    for _ in range(2):
        with pytest.raises(ContentRefused) as refused:
            start(PROGRAM, {"k": value})
        assert (refused.value.code, refused.value.issues[0].code) == ("validation_error", "not_json")


@pytest.mark.rule("W50")
@pytest.mark.parametrize("char", ["x", "é", "€", "😀"])
def test_notes_are_bounded_in_bytes(char: str) -> None:
    width = len(char.encode())
    whole = char * (MAX_NOTES_BYTES // width) + "x" * (MAX_NOTES_BYTES % width)
    check_notes(whole)
    with pytest.raises(ContentRefused) as refused:
        check_notes(whole + "x")
    assert refused.value.code == "validation_error"
    assert (refused.value.measured, refused.value.allowed) == (MAX_NOTES_BYTES + 1, MAX_NOTES_BYTES)


def test_notes_come_from_the_top_level_and_from_the_context() -> None:
    assert split_notes({"notesMarkdown": "inside", "a": 1}, None) == ({"a": 1}, "inside")
    assert split_notes({"notesMarkdown": "inside"}, "outside") == ({}, "outside\n\ninside")
    assert split_notes({"notesMarkdown": "same"}, "same") == ({}, "same")
    assert split_notes({"notesMarkdown": " "}, "") == ({}, "")
    assert split_notes(None, None) == ({}, None)
    with pytest.raises(ContentRefused):
        split_notes({"notesMarkdown": 1}, None)


@pytest.mark.rule("W26")
def test_what_one_branch_learns_another_does_not_see() -> None:
    snapshot = start(PROGRAM, {"shared": [1]}).snapshot
    left = advance(PROGRAM, snapshot, Content(context={"side": "left", "shared": [1, 2]}))
    right = advance(PROGRAM, snapshot, Content(context={"side": "right"}))
    assert isinstance(left, Advanced) and isinstance(right, Advanced)
    assert left.snapshot.context == {"side": "left", "shared": [1, 2]}
    assert right.snapshot.context == {"side": "right", "shared": [1]}
    assert snapshot.context == {"shared": [1]}


def test_a_large_output_is_refused() -> None:
    snapshot = start(PROGRAM).snapshot
    with pytest.raises(ContentRefused) as refused:
        advance(PROGRAM, snapshot, Content(output={"kind": "k", "v": "x" * 300_000}))
    assert refused.value.issues[0].path == "output"


def test_a_complete_run_stays_complete() -> None:
    outcome = start(PROGRAM)
    for _ in range(2):
        outcome = advance(PROGRAM, outcome.snapshot, Content())  # type: ignore[assignment]
    assert isinstance(outcome, Complete) and outcome.snapshot.is_complete


@pytest.mark.rule("W49")
def test_an_action_whose_arguments_would_nest_too_deep_is_not_come_to() -> None:
    deep: Any = "x"
    for _ in range(60):
        deep = [deep]
    action = {"tool": "chieflab_post", "args": {"a": {"b": {"c": {"d": {"e": "{{k}}"}}}}}}
    program = program_of(step("one"), step("two", action=action))
    at = start(program, {"k": deep}).snapshot
    assert isinstance(advance(program, at, Content(context={"k": "flat"})), Advanced)
    with pytest.raises(ContentRefused) as refused:
        pending(program, advance(program, at, Content()).snapshot)
    assert (refused.value.code, refused.value.issues[0].code) == ("validation_error", "too_deep")
