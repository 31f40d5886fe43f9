"""Compile a definition to a program and its hash (W57).

Pure: equal definitions, libraries and bindings give equal programs. An unknown but harmless name
becomes a warning and a visible marker in the prompt; a definition that would be endless or too
large is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from assent.kernel.patterns import ASCII_ONLY, is_ascii_only
from assent.kernel.structs import Record, from_record
from assent.kernel.texts import quote
from assent.workflow.definition.constructs import routines, steps
from assent.workflow.definition.constructs.prompts import EXECUTOR, EXECUTOR_MEANS, METRICS, write_list
from assent.workflow.definition.constructs.routines import find_bodies
from assent.workflow.definition.lowering import Lowering, Within
from assent.workflow.definition.source import Definition, Step, collect_functions
from assent.workflow.issues import Warning, walk_values
from assent.workflow.program import (
    LOOP_CONTROL,
    PROGRAM_FORMAT,
    Ask,
    Node,
    Program,
    Repeat,
    Text,
    workflow_hash,
)

BY_TYPE: Final[dict[str, Callable[[Step, Lowering, Within], tuple[int, ...]]]] = {
    "step": steps.lower_step,
    "loop": steps.lower_loop,
    "parallel": steps.lower_parallel,
}
"""The constructs an author can write, by the type of a step. To add one, write its function, add its shape to
`format.STEP_SHAPES` and its row here."""


def lower(step: Step, lowering: Lowering, within: Within) -> tuple[int, ...]:
    """Compile a step with the construct of its type."""
    if step.template_call is not None:
        return routines.lower(step, lowering, within)
    return BY_TYPE[step.type](step, lowering, within)


class Compiled(Record):
    """A program, its hash, and the warnings for its author."""

    program: Program
    workflow_hash: str
    warnings: tuple[Warning, ...]


def compile_definition(
    definition: Definition,
    library: Mapping[str, Definition] | None = None,
    bindings: Mapping[str, str] | None = None,
    file: str | None = None,
) -> Compiled:
    """Compile a definition. `library` has routines by id; `bindings` fill extension points."""
    lowering = Lowering(definition, library or {}, bindings or {}, lower, file or definition.id)
    within = Within(
        functions=collect_functions(definition),
        features=definition.features,
        assessments={entry["id"]: entry for entry in definition.assessments},
        steps={step.id: step for step in definition.steps},
    )
    named = find_bodies(definition.steps)
    top = tuple(
        index for step in definition.steps if step.id not in named for index in lowering.lower(step, within)
    )
    if not top:
        lowering.refuse("$.steps", "empty", "Every step belongs to a loop body, so no step can start.")
    nodes = _with_metrics(
        tuple(node for node in lowering.nodes if node is not None), top, definition.metrics_profile
    )
    program = from_record(
        Program,
        definition,
        format=PROGRAM_FORMAT,
        nodes=nodes,
        top=top,
        preamble=tuple(lowering.bind(text, "$") for text in _preamble(definition)),
        preferences=definition.recommended_preferences,
    )
    _warn_of_ascii(nodes, lowering)
    return Compiled(program, workflow_hash(program), tuple(lowering.warnings))


def _warn_of_ascii(nodes: tuple[Node, ...], lowering: Lowering) -> None:
    for node in nodes:
        for path, value in walk_values(msgspec.to_builtins(node)):
            # The arguments of an action are not patterns, whatever their names.
            named = path.endswith((".pattern", ".matches")) and not path.startswith("$.action.")
            if named and isinstance(value, str) and is_ascii_only(value):
                lowering.warn(
                    "ascii_only", f"$.steps.{node.id}", f"The pattern {quote(value)}: {ASCII_ONLY}."
                )


def _with_metrics(nodes: tuple[Node, ...], top: tuple[int, ...], profile: str) -> tuple[Node, ...]:
    at = _last_work(nodes, top)
    last = nodes[at]
    if profile not in METRICS or not isinstance(last, Ask):
        return nodes
    closing = msgspec.structs.replace(last, prompt=(*last.prompt, Text(text=METRICS[profile])))
    return (*nodes[:at], closing, *nodes[at + 1 :])


def _last_work(nodes: tuple[Node, ...], indexes: tuple[int, ...]) -> int:
    """Return the last step of the work; in a loop, the last that does more than decide."""
    for index in reversed(indexes):
        node = nodes[index]
        if isinstance(node, Repeat):
            return _last_work(nodes, node.body)
        if node.contract is None or node.contract.kind != LOOP_CONTROL:
            return index
    return indexes[-1]


def _preamble(definition: Definition) -> list[str]:
    """Return the sections that apply to the whole run, shown at the start and on resume."""
    references = tuple(
        f"{entry['title']} ({entry['source']}): {entry['purpose']}"
        + (" Follow it strictly." if entry["authoritative"] else "")
        for entry in definition.references
    )
    preferences = tuple(
        f"{name}: {value}" for name, value in sorted(definition.recommended_preferences.items())
    )
    rules = definition.meta_guidance
    if any(EXECUTOR in rule for rule in rules):
        rules = (*rules, EXECUTOR_MEANS)
    sections = (
        ("Before you start, these must hold", definition.preconditions),
        ("Ask the user first if it is not clear already", definition.clarification_prompts),
        ("Rules for the whole run", rules),
        ("Documents", references),
        ("Recommended", preferences),
    )
    return [f"## {title}\n{write_list(entries)}" for title, entries in sections if entries]
