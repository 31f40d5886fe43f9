"""Loops: `while`, `until`, `for` and `forEach`, with a body written in place or named (also loops in loops)."""

from __future__ import annotations

import msgspec

from assent.workflow.constructs.steps import lower_confirm
from assent.workflow.contracts import REGISTRY
from assent.workflow.lowering import Lowering, Within
from assent.workflow.program import Ask, Repeat, Text
from assent.workflow.source import Loop, Step


def lower(step: Step, lowering: Lowering, within: Within) -> tuple[int, ...]:
    """The loop, behind a step of its own where a human confirms before it begins."""
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
    )
    body = (within.steps[step.body],) if isinstance(step.body, str) else step.body
    nodes = tuple(index for part in body for index in lowering.lower(part, inner))
    lowering.nodes[at] = _repeat(step, loop, within.prefix, nodes, when)
    if (decider := (loop.condition_source or {}).get("contractRef")) and decider not in REGISTRY:
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


def _repeat(
    step: Step, loop: Loop, prefix: str, body: tuple[int, ...], when: dict[str, object] | None
) -> Repeat:
    source = loop.condition_source or {}
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
