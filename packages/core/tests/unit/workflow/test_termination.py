"""Every program ends, whatever an agent sends, and the same content leads to the same place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.workflows.agent import Agent
from tests.support.workflows.library import document

from assent.workflow import compile_definition, parse
from assent.workflow.machine.state import encode

pytestmark = pytest.mark.slow

NAMES = st.sampled_from(["a", "b", "list", "count", "currentIteration"])
leaf_conditions = st.one_of(
    NAMES.map(lambda name: {"var": name}),
    st.tuples(NAMES, st.sampled_from(["equals", "not_equals"]), st.sampled_from([True, "x", 1, None])).map(
        lambda parts: {"var": parts[0], parts[1]: parts[2]}
    ),
    st.tuples(NAMES, st.sampled_from(["gt", "lte"]), st.integers(0, 3)).map(
        lambda parts: {"var": parts[0], parts[1]: parts[2]}
    ),
)
conditions = st.recursive(
    leaf_conditions,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: {"and": parts})
        | st.lists(inner, max_size=3).map(lambda parts: {"or": parts})
        | inner.map(lambda part: {"not": part})
    ),
    max_leaves=4,
)
loop_configs = st.one_of(
    conditions.map(lambda condition: {"type": "while", "condition": condition}),
    conditions.map(lambda condition: {"type": "until", "condition": condition}),
    st.sampled_from(["count", 1, 0]).map(lambda count: {"type": "for", "count": count}),
    st.just({"type": "forEach", "items": "list"}),
    st.just({"type": "while", "conditionSource": {"kind": "artifact_contract",
                                                  "contractRef": "wr.contracts.loop_control"}}),
)  # fmt: skip
extras = st.fixed_dictionaries(
    {},
    optional={
        "runCondition": conditions,
        "requireConfirmation": st.booleans() | conditions,
        "onReject": st.sampled_from(["stay", "continue"]),
    },
)
plain = st.tuples(
    extras,
    st.fixed_dictionaries(
        {},
        optional={
            "notesOptional": st.booleans(),
            "outputContract": st.just({"contractRef": "wr.contracts.loop_control"}),
            "audit": st.just({}),
        },
    ),
).map(lambda parts: {"title": "t", "prompt": "p {{a}}", **parts[0], **parts[1]})
trees = st.recursive(
    plain,
    lambda inner: st.tuples(
        st.lists(inner, min_size=1, max_size=3), loop_configs, st.integers(1, 3), extras
    ).map(
        lambda parts: {
            "title": "l",
            "type": "loop",
            "body": parts[0],
            "loop": {**parts[1], "maxIterations": parts[2]},
            **parts[3],
        }
    ),
    max_leaves=6,
)


def numbered(steps: list[dict[str, Any]], count: list[int]) -> list[dict[str, Any]]:
    result = []
    for entry in steps:
        count[0] += 1
        entry = {"id": f"step-{count[0]}", **entry}
        if "body" in entry:
            entry["body"] = numbered(entry["body"], count)
        result.append(entry)
    return result


definitions = st.lists(trees, min_size=1, max_size=4).map(lambda steps: document(*numbered(steps, [0])))


@settings(max_examples=300, deadline=None)
@given(definitions, st.integers(0, 2**16), st.sampled_from(["mixed", "continue", "stop"]))
def test_every_run_of_every_program_ends_within_its_bound(
    source: dict[str, Any], seed: int, loops: str
) -> None:
    program = compile_definition(parse(source, "any.json")).program
    journey = Agent(program, seed, loops=loops).run()
    assert len(set(journey.keys)) == len(journey.keys)
    assert all(len(encode(snapshot)) < 4_000 for snapshot in journey.snapshots)


@settings(max_examples=100, deadline=None)
@given(definitions, st.integers(0, 2**16))
def test_a_run_played_again_passes_through_the_same_snapshots(source: dict[str, Any], seed: int) -> None:
    program = compile_definition(parse(source, "any.json")).program
    first, second = (Agent(program, seed).run() for _ in range(2))
    assert [encode(snapshot) for snapshot in first.snapshots] == [
        encode(snapshot) for snapshot in second.snapshots
    ]
