"""Loops are bounded, say why they end, and never leave an agent guessing."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.workflows.library import ARTIFACT_LOOP, decision, loop, program_of, step

from assent.workflow import (
    Advanced,
    Blocked,
    Complete,
    Content,
    Program,
    Snapshot,
    advance,
    pending,
    start,
    step_key,
)


def begin(program: Program, **context: Any) -> Snapshot:
    outcome = start(program, context)
    assert isinstance(outcome, Advanced)
    return outcome.snapshot


def go(program: Program, snapshot: Snapshot, output: Any = None, **context: Any) -> Advanced | Complete:
    outcome = advance(program, snapshot, Content(output=output, context=context))
    assert isinstance(outcome, Advanced | Complete), outcome
    return outcome


def keys(program: Program, **context: Any) -> list[str]:
    snapshot, found = begin(program, **context), []
    while not snapshot.is_complete:
        found.append(step_key(program, snapshot))
        snapshot = go(program, snapshot).snapshot
    return found


def test_a_step_whose_condition_comes_true_later_is_asked_then() -> None:
    program = program_of(
        step("first-step"), step("skipped", runCondition={"var": "late"}), step("third-step"), step("end")
    )
    snapshot = begin(program)
    snapshot = go(program, snapshot).snapshot
    assert step_key(program, snapshot) == "third-step"
    snapshot = go(program, snapshot, late=True).snapshot
    assert step_key(program, snapshot) == "skipped"
    assert step_key(program, go(program, snapshot).snapshot) == "end"


@pytest.mark.rule("W63")
def test_keys_are_unique_in_every_iteration_of_nested_loops() -> None:
    inner = loop("inner-loop", [step("deep-step")], type="for", count=2)
    program = program_of(loop("outer-loop", [step("before"), inner], type="forEach", items="things"))
    found = keys(program, things=["a", "b"])
    assert found == [
        "outer-loop[1]/before",
        "outer-loop[1]/inner-loop[1]/deep-step",
        "outer-loop[1]/inner-loop[2]/deep-step",
        "outer-loop[2]/before",
        "outer-loop[2]/inner-loop[1]/deep-step",
        "outer-loop[2]/inner-loop[2]/deep-step",
    ]


def test_a_body_may_be_named_and_then_runs_only_in_its_loop() -> None:
    named = loop("the-loop", "the-body", type="for", count="times", iterationVar="round")
    program = program_of(named, step("the-body", prompt="Round {{round}} of {{times}}."), step("end"))
    assert keys(program, times="2") == ["the-loop[1]/the-body", "the-loop[2]/the-body", "end"]
    shown = pending(program, begin(program, times=2))
    assert shown is not None and shown.prompt == "Round 1 of 2."


def test_loop_variables_are_seen_by_the_body_and_by_inner_loops() -> None:
    inner = loop("per-file", [step("one-file", prompt="{{slice.name}} {{index}} {{currentItem}}")],
                 type="forEach", items="slice.files")  # fmt: skip
    program = program_of(
        loop("per-slice", [inner], type="forEach", items="slices", itemVar="slice", indexVar="index")
    )
    slices = [{"name": "A", "files": ["x", "y"]}, {"name": "B", "files": ["z"]}]
    snapshot, shown = begin(program, slices=slices), []
    while not snapshot.is_complete:
        step_shown = pending(program, snapshot)
        assert step_shown is not None
        shown.append(step_shown.prompt)
        snapshot = go(program, snapshot).snapshot
    # The inner loop has an index of its own name, so the outer one is still seen.
    assert shown == ["A 0 x", "A 0 y", "B 1 z"]


@pytest.mark.rule("W60")
@pytest.mark.parametrize(
    ("config", "context", "code"),
    [
        ({"type": "forEach", "items": "things"}, {}, "loop_items_unset"),
        ({"type": "forEach", "items": "things"}, {"things": "text"}, "loop_items_invalid"),
        ({"type": "forEach", "items": "things"}, {"things": list(range(6))}, "loop_limit_exceeded"),
        ({"type": "for", "count": "things"}, {}, "loop_count_unset"),
        ({"type": "for", "count": "things"}, {"things": -1}, "loop_count_invalid"),
        ({"type": "for", "count": "things"}, {"things": 1.5}, "loop_count_invalid"),
        ({"type": "for", "count": "things"}, {"things": 6}, "loop_limit_exceeded"),
    ],
)
def test_a_loop_that_cannot_begin_blocks_and_names_its_variable(
    config: dict[str, Any], context: dict[str, Any], code: str
) -> None:
    program = program_of(step("before"), loop("the-loop", [step("inner")], **config))
    snapshot = begin(program)
    outcome = advance(program, snapshot, Content(context=context))
    assert isinstance(outcome, Blocked)
    assert [(issue.path, issue.code) for issue in outcome.issues] == [("context.things", code)]
    assert outcome.snapshot.at == snapshot.at and outcome.snapshot.context == {}
    good: Any = ["a"] if config["type"] == "forEach" else 1
    assert step_key(program, go(program, outcome.snapshot, things=good).snapshot) == "the-loop[1]/inner"


@pytest.mark.rule("W60")
@pytest.mark.parametrize(
    ("config", "first", "gone", "code"),
    [
        ({"type": "forEach", "items": "things"}, ["a", "b"], None, "loop_items_unset"),
        ({"type": "forEach", "items": "things"}, ["a", "b"], "text", "loop_items_invalid"),
        ({"type": "for", "count": "things"}, 2, None, "loop_count_unset"),
    ],
)
def test_a_loop_that_loses_its_variable_on_the_way_blocks_and_never_skips_the_rest(
    config: dict[str, Any], first: Any, gone: Any, code: str
) -> None:
    program = program_of(loop("the-loop", [step("inner")], **config), step("after"))
    snapshot = begin(program, things=first)
    outcome = advance(program, snapshot, Content(context={"things": gone}))
    assert isinstance(outcome, Blocked)
    assert [(issue.path, issue.code) for issue in outcome.issues] == [("context.things", code)]
    assert step_key(program, go(program, outcome.snapshot).snapshot) == "the-loop[2]/inner"
    none: Any = [] if config["type"] == "forEach" else 0
    assert step_key(program, go(program, outcome.snapshot, things=none).snapshot) == "after"


@pytest.mark.rule("W60")
def test_a_loop_at_the_very_start_blocks_the_start() -> None:
    outcome = start(program_of(loop("the-loop", [step("inner")], type="forEach", items="things")), {})
    assert isinstance(outcome, Blocked) and outcome.issues[0].path == "context.things"
    assert not outcome.snapshot.is_complete


@pytest.mark.rule("W60")
@pytest.mark.parametrize(
    ("kind", "condition"), [("while", {"var": "more"}), ("until", {"var": "more", "equals": "never"})]
)
def test_a_conditional_loop_leaves_at_its_limit_with_a_warning(kind: str, condition: dict[str, Any]) -> None:
    program = program_of(
        loop("the-loop", [step("inner")], type=kind, condition=condition, maxIterations=2), step("end")
    )
    snapshot = go(program, begin(program, more=True)).snapshot
    outcome = go(program, snapshot)
    assert [(warning.code, warning.path) for warning in outcome.warnings] == [
        ("loop_limit_reached", "the-loop")
    ]
    assert step_key(program, outcome.snapshot) == "end"


def test_a_conditional_loop_ends_without_a_warning_when_its_condition_does() -> None:
    program = program_of(
        loop("the-loop", [step("inner")], type="until", condition={"var": "done"}, maxIterations=1)
    )
    outcome = go(program, begin(program), done=True)
    assert isinstance(outcome, Complete) and outcome.warnings == ()


@pytest.mark.rule("W61")
@pytest.mark.parametrize(
    ("config", "context"),
    [
        ({"type": "forEach", "items": "things"}, {"things": []}),
        ({"type": "for", "count": 0}, {}),
        ({"type": "while", "condition": {"var": "more"}}, {}),
        ({"type": "until", "condition": {"var": "done"}}, {"done": True}),
    ],
)
def test_no_iteration_is_recorded_and_the_run_goes_on(
    config: dict[str, Any], context: dict[str, Any]
) -> None:
    program = program_of(loop("the-loop", [step("inner")], **config), step("end"))
    outcome = start(program, context)
    assert isinstance(outcome, Advanced)
    assert [(event.kind, event.loop_id, event.iteration) for event in outcome.events] == [
        ("loop_exited", "the-loop", 0)
    ]
    assert step_key(program, outcome.snapshot) == "end"


ARTIFACT = loop("outer-step", [step("work"), step("decide")], **ARTIFACT_LOOP)


@pytest.mark.rule("W62")
def test_a_missing_decision_blocks_and_does_not_leave_the_loop() -> None:
    program = program_of(ARTIFACT, step("end"))
    snapshot = go(program, begin(program)).snapshot
    outcome = advance(program, snapshot, Content())
    assert isinstance(outcome, Blocked)
    assert (outcome.reason, outcome.issues[0].code) == ("loop_decision_missing", "loop_decision_missing")
    assert outcome.example is not None
    assert step_key(program, go(program, snapshot, outcome.example).snapshot) == "end"


@pytest.mark.rule("W34", "W62")
def test_a_decision_that_cannot_be_read_is_named_by_its_field() -> None:
    program = program_of(ARTIFACT, step("end"))
    snapshot = go(program, begin(program)).snapshot
    outcome = advance(program, snapshot, Content(output=decision("maybe")))
    assert isinstance(outcome, Blocked) and outcome.reason == "loop_decision_missing"
    assert ("output.decision", "enum") in [(issue.path, issue.code) for issue in outcome.issues]


@pytest.mark.rule("W62")
def test_a_decision_for_another_loop_is_none_for_this_one() -> None:
    program = program_of(ARTIFACT, step("end"))
    snapshot = go(program, begin(program)).snapshot
    assert isinstance(advance(program, snapshot, Content(output=decision("stop", loopId="other"))), Blocked)
    for loop_id in ("the-loop", "outer-step"):
        assert step_key(program, go(program, snapshot, decision("stop", loopId=loop_id)).snapshot) == "end"


def test_decisions_continue_stop_and_reach_the_limit() -> None:
    program = program_of(loop("the-loop", [step("decide")], **ARTIFACT_LOOP, maxIterations=2), step("end"))
    again = go(program, begin(program), {"artifacts": [decision("continue")]}).snapshot
    assert step_key(program, again) == "the-loop[2]/decide"
    assert go(program, again, decision("stop")).warnings == ()
    assert [warning.code for warning in go(program, again, decision("continue")).warnings] == [
        "loop_limit_reached"
    ]


def test_a_decision_made_before_the_loop_counts_once() -> None:
    program = program_of(
        step("before"), ARTIFACT, loop("second", [step("other")], **ARTIFACT_LOOP), step("end")
    )
    stopped = go(program, begin(program), decision("stop"))
    assert step_key(program, stopped.snapshot) == "second[1]/other"
    assert [event.reason for event in stopped.events] == ["stop", ""]
    assert (
        step_key(program, go(program, begin(program), decision("continue")).snapshot) == "outer-step[1]/work"
    )


def test_an_inner_decision_leaves_the_outer_loop_alone() -> None:
    inner = loop("inner-loop", [step("decide-inner")], type="while",
                 conditionSource={"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control"})  # fmt: skip
    program = program_of(loop("outer-step", [inner, step("decide-outer")], **ARTIFACT_LOOP))
    snapshot = go(program, begin(program), decision("stop")).snapshot
    assert step_key(program, snapshot) == "outer-step[1]/decide-outer"
    assert isinstance(advance(program, snapshot, Content()), Blocked)


def test_a_list_that_grows_while_it_is_worked_through_is_followed() -> None:
    program = program_of(
        loop("the-loop", [step("inner")], type="forEach", items="things", maxIterations=2), step("end")
    )
    snapshot = go(program, begin(program, things=["a"]), things=["a", "b"]).snapshot
    assert step_key(program, snapshot) == "the-loop[2]/inner"
    outcome = go(program, snapshot, things=["a", "b", "c"])
    assert [warning.code for warning in outcome.warnings] == ["loop_limit_reached"]


@pytest.mark.parametrize(
    "config", [ARTIFACT_LOOP, {"type": "while", "condition": {"var": "x", "equals": None}}]
)
def test_a_loop_whose_body_asks_nothing_ends(config: dict[str, Any]) -> None:
    never = step("never", runCondition={"var": "no"})
    nested: Any = [never]
    for level in range(4):
        nested = [loop(f"loop-{level}", nested, **config, maxIterations=1000)]
    program = program_of(*nested, step("end"))
    assert step_key(program, begin(program)) == "end"


def test_a_loop_with_a_confirmation_asks_before_it_begins() -> None:
    program = program_of(
        {**loop("the-loop", [step("inner")], type="for", count=1), "requireConfirmation": True}
    )
    shown = pending(program, begin(program))
    assert shown is not None
    assert (shown.step_id, shown.require_confirmation) == ("the-loop.confirm", True)
