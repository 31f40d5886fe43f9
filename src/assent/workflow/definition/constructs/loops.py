"""Loops: `while`, `until`, `for` and `forEach`, with a body in place or named."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.workflow.contracts.registry import REGISTRY
from assent.workflow.definition.constructs.prompts import confirmation_text
from assent.workflow.definition.constructs.steps import lower_confirm
from assent.workflow.definition.lowering import Lowering, Within
from assent.workflow.definition.source import Loop, Step
from assent.workflow.program import Ask, Repeat, Text

LOOP_DECISION: Final = "wr.contracts.loop_control"


def lower(step: Step, lowering: Lowering, within: Within) -> tuple[int, ...]:
    """Compile a loop; if a person confirms its start, a step before it asks for that."""
    loop = step.loop
    if loop is None or step.body is None:
        raise ValueError("a loop step without its loop passed the checks")
    path = f"{within.path}.{step.id}"
    when = within.condition(step.run_condition)
    before: tuple[int, ...] = ()
    if (confirm := lower_confirm(step.require_confirmation)) is not None:
        ask = Ask(
            id=f"{within.prefix}{step.id}.confirm",
            title=f"Confirm: {step.title}"[:200],
            prompt=(
                Text(
                    text=f"{step.title} begins once a person has confirmed it. Say in the notes what will be done."
                ),
                *confirmation_text(step, confirm),
            ),
            when=when,
            confirm=confirm,
            on_reject=step.on_reject,
        )
        before = (lowering.add(ask, path),)
    at = lowering.reserve(path)
    inner = msgspec.structs.replace(
        within,
        when=None,
        path=path,
        functions={**within.functions, **{function.name: function for function in step.function_definitions}},
        guidance=(*within.guidance, *step.guidance),
    )
    body = (within.steps[step.body],) if isinstance(step.body, str) else step.body
    nodes = tuple(index for part in body for index in lowering.lower(part, inner))
    source = _find_decision(loop, body)
    lowering.nodes[at] = _repeat(step, loop, source, within.prefix, nodes, when)
    if (decider := source.get("contractRef")) and decider not in REGISTRY:
        lowering.warn(
            "unknown_contract", path, f'The contract "{decider}" is not known here; wr.loop_control decides.'
        )
    if isinstance(loop.count, int) and loop.count > loop.max_iterations:
        lowering.warn(
            "loop_exceeds_limit",
            path,
            f"count is {loop.count}, maxIterations {loop.max_iterations}: raise it.",
        )
    return (*before, at)


def _find_decision(loop: Loop, body: tuple[Step, ...]) -> dict[str, Any]:
    """Return the condition for another round: the author's, or a loop decision that a step of the
    body must send.

    The second applies to definitions older than `conditionSource`, whose condition names a variable
    that no step sets.
    """
    if loop.condition_source is not None:
        return loop.condition_source
    contracts = [part.output_contract or {} for part in body]
    asked = any(each.get("contractRef") == LOOP_DECISION and each.get("required", True) for each in contracts)
    return {"kind": "artifact_contract", "contractRef": LOOP_DECISION} if asked else {}


def _repeat(
    step: Step,
    loop: Loop,
    source: dict[str, Any],
    prefix: str,
    body: tuple[int, ...],
    when: dict[str, object] | None,
) -> Repeat:
    by_artifact = source.get("kind") == "artifact_contract"
    names = {
        name: value
        for name, value in (
            ("iteration_var", loop.iteration_var),
            ("item_var", loop.item_var),
            ("index_var", loop.index_var),
        )
        if value is not None
    }
    decided = loop.type in ("while", "until")
    return Repeat(
        id=prefix + step.id,
        title=step.title,
        mode=loop.type,
        most=loop.max_iterations,
        body=body,
        when=when,
        condition=source.get("condition", loop.condition) if decided and not by_artifact else None,
        artifact=source["contractRef"] if decided and by_artifact else None,
        loop_id=source.get("loopId") if decided and by_artifact else None,
        items=loop.items if loop.type == "forEach" else None,
        count=loop.count if loop.type == "for" else None,
        **names,
    )
