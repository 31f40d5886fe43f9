"""Checks the steps of a definition beyond the shape of each field.

Ids are unique, loops are bounded and not circular, conditions and rules can be evaluated, and every
step has its content (a prompt, a template or a body).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assent.kernel.limits import MAX_LOOP_DEPTH, MAX_WORKFLOW_STEPS
from assent.kernel.texts import quote
from assent.workflow.contracts.criteria import check_criteria
from assent.workflow.definition.format import CONDITION_SOURCES, CONFIRMATION_KINDS, LOOP_NEEDS, STEP_SHAPES
from assent.workflow.issues import Issue, check_shape, list_entries, mismatches
from assent.workflow.machine import conditions
from assent.workflow.machine.content import RESERVED

Raw = dict[str, Any]
SERVER_NAMES: Final = ("wr", *sorted(RESERVED))
"""Names that no variable of a loop may have."""
_TELLING: Final = (("loop", "loop"), ("parallelDelegations", "parallel"))
"""Fields that only one type of step has, so that a missing type can be named."""


def check_steps(document: Raw) -> Iterator[Issue]:
    """Yield every issue of `steps`."""
    steps: list[Any] = document["steps"]
    found = list(_steps(steps, "$.steps", 0))
    if len(found) > MAX_WORKFLOW_STEPS:
        yield Issue(
            "$.steps", "too_many", f"There are more than {MAX_WORKFLOW_STEPS} steps; split the workflow."
        )
        return
    seen: dict[str, str] = {}
    for step, path, _ in found:
        yield from _check(step, path, document)
        step_id = step.get("id") if isinstance(step, dict) else None
        if isinstance(step_id, str):
            if step_id in seen:
                yield Issue(
                    f"{path}.id",
                    "duplicate_id",
                    f"{quote(step_id)} is already the id of {seen[step_id]}; choose another.",
                )
            seen.setdefault(step_id, path)
    yield from _check_bodies(steps, found)


def _steps(steps: list[Any], path: str, level: int) -> Iterator[tuple[Any, str, int]]:
    for n, step in enumerate(steps):
        here = f"{path}[{n}]"
        yield step, here, level
        body = step.get("body") if isinstance(step, dict) else None
        if isinstance(body, list) and level <= MAX_LOOP_DEPTH:
            yield from _steps(body, f"{here}.body", level + 1)


def _check(step: Any, path: str, document: Raw) -> Iterator[Issue]:
    if not isinstance(step, dict):
        yield Issue(path, "type", f"A step is an object with id, title and prompt; this is {quote(step)}.")
        return
    kind = step.get("type", "step")
    if "type" not in step and (meant := [name for field, name in _TELLING if field in step]):
        yield Issue(f"{path}.type", "required", f'Add "type": "{meant[0]}".')
        kind = meant[0]
    if not isinstance(kind, str) or kind not in STEP_SHAPES:
        yield Issue(
            f"{path}.type", "enum", f'Write "loop" or "parallel", or leave type out; this is {quote(kind)}.'
        )
        return
    yield from mismatches({"type": kind, **step}, STEP_SHAPES[kind], path)
    yield from _check_conditions(step, path)
    yield from _check_outputs(step, path, document)
    if kind == "loop" and isinstance(step.get("loop"), dict):
        yield from _check_loop(step["loop"], f"{path}.loop")


def _check_conditions(step: Raw, path: str) -> Iterator[Issue]:
    yield from _check_condition(step, "runCondition", path)
    rule = step.get("requireConfirmation")
    if isinstance(rule, dict):
        if "kind" not in rule:
            yield from conditions.check(rule, f"{path}.requireConfirmation")
        else:
            if rule["kind"] not in CONFIRMATION_KINDS:
                choices = ", ".join(CONFIRMATION_KINDS)
                yield Issue(f"{path}.requireConfirmation.kind", "enum", f"Write one of {choices}.")
            if extra := sorted(set(rule) - {"kind", "condition"}):
                yield Issue(
                    f"{path}.requireConfirmation.{extra[0]}",
                    "unknown_field",
                    "Only kind and condition are allowed here.",
                )
            if "condition" in rule:  # of any type
                yield from conditions.check(rule["condition"], f"{path}.requireConfirmation.condition")
    for field, key in (("promptFragments", "when"), ("parallelDelegations", "runCondition")):
        for n, entry in enumerate(list_entries(step, field)):
            yield from _check_condition(entry, key, f"{path}.{field}[{n}]")
    for field in ("audit", "verification"):
        helper = step[field].get("delegate") if isinstance(step.get(field), dict) else None
        yield from _check_condition(helper, "runCondition", f"{path}.{field}.delegate")
    if "validationCriteria" in step:
        yield from check_criteria(step["validationCriteria"], f"{path}.validationCriteria")


def _check_condition(owner: Any, field: str, path: str) -> Iterator[Issue]:
    if isinstance(owner, dict) and isinstance(owner.get(field), dict):
        yield from conditions.check(owner[field], f"{path}.{field}")


def _check_outputs(step: Raw, path: str, document: Raw) -> Iterator[Issue]:
    for owner, where in ((step, path), (step.get("synthesis"), f"{path}.synthesis")):
        if isinstance(owner, dict) and isinstance(owner.get("outputContract"), dict):
            yield from _check_contract(owner["outputContract"], f"{where}.outputContract")
    declared = [entry.get("id") for entry in list_entries(document, "assessments") if isinstance(entry, dict)]
    known = {name for name in declared if isinstance(name, str)}
    refs = [ref for ref in list_entries(step, "assessmentRefs") if isinstance(ref, str)]
    for n, ref in enumerate(refs):
        if ref not in known:
            listed = ", ".join(sorted(known)) or "none"
            yield Issue(
                f"{path}.assessmentRefs[{n}]",
                "unknown_assessment",
                f"No assessment {quote(ref)}; declared are: {listed}.",
            )
    for n, entry in enumerate(list_entries(step, "assessmentConsequences")):
        when = entry.get("when") if isinstance(entry, dict) else None
        scope = when.get("forAssessment") if isinstance(when, dict) else None
        if not refs:
            yield Issue(
                f"{path}.assessmentRefs",
                "required",
                "A consequence needs an assessment; name it in assessmentRefs.",
            )
            break
        if isinstance(scope, str) and scope not in refs:
            yield Issue(
                f"{path}.assessmentConsequences[{n}].when.forAssessment",
                "unknown_assessment",
                f"Name one of this step's assessmentRefs: {', '.join(refs)}.",
            )


def _check_contract(contract: Raw, path: str) -> Iterator[Issue]:
    if "schema" not in contract:
        if "contractRef" not in contract:
            yield Issue(
                f"{path}.contractRef", "required", 'Name a contract, or write "kind", "schema" and "example".'
            )
        return
    bad = check_shape(contract["schema"], f"{path}.schema")
    yield from bad
    for name in ("kind", "example"):
        if name not in contract:
            yield Issue(f"{path}.{name}", "required", f'A contract written into the step needs "{name}".')
    if not bad and isinstance(contract.get("example"), dict):
        yield from mismatches(contract["example"], contract["schema"], f"{path}.example")
        if contract["example"].get("kind") != contract.get("kind"):
            yield Issue(
                f"{path}.example.kind", "const", f"The example's kind is {quote(contract.get('kind'))}."
            )


def _check_loop(loop: Raw, path: str) -> Iterator[Issue]:
    source = loop.get("conditionSource")
    kind = source.get("kind") if isinstance(source, dict) else None
    if isinstance(source, dict) and isinstance(kind, str) and kind in CONDITION_SOURCES:
        yield from mismatches(source, CONDITION_SOURCES[kind], f"{path}.conditionSource")
        yield from _check_condition(source, "condition", f"{path}.conditionSource")
    yield from _check_condition(loop, "condition", path)
    for name in ("iterationVar", "itemVar", "indexVar"):
        if isinstance(loop.get(name), str) and loop[name] in SERVER_NAMES:
            message = f"{quote(loop[name])} belongs to the server; choose another name."
            yield Issue(f"{path}.{name}", "reserved_key", message)
    kind = loop.get("type")
    if isinstance(kind, str) and kind in LOOP_NEEDS:
        needed, advice = LOOP_NEEDS[kind]
        if not set(needed) & set(loop):
            yield Issue(f"{path}.{needed[0]}", "required", advice)


def _check_bodies(steps: list[Any], found: list[tuple[Any, str, int]]) -> Iterator[Issue]:
    """Check that references name steps of this file, without a circle or deep nesting."""
    top = {step["id"]: step for step in steps if isinstance(step, dict) and isinstance(step.get("id"), str)}
    for step, path, level in found:
        if not isinstance(step, dict) or step.get("type") != "loop":
            continue
        if level >= MAX_LOOP_DEPTH:
            yield Issue(
                path, "too_deep", f"Loops nest at most {MAX_LOOP_DEPTH} deep; make the inner one a routine."
            )
        if isinstance(step.get("body"), str):
            yield from _follow(step, path, top)


def _follow(step: Raw, path: str, top: dict[str, Raw]) -> Iterator[Issue]:
    trail: list[Any] = [step.get("id")]
    stack = [step["body"]]
    while stack:
        name = stack.pop()
        if name not in top:
            yield Issue(
                f"{path}.body",
                "unknown_step",
                f"No top-level step {quote(name)}; name one or write the body here.",
            )
            return
        if name in trail:
            way = " → ".join(str(part) for part in [*trail, name])
            yield Issue(f"{path}.body", "cycle", f"The loop body contains itself: {way}. Name another step.")
            return
        trail.append(name)
        if len(trail) > MAX_LOOP_DEPTH:
            yield Issue(f"{path}.body", "too_deep", f"Loops nest at most {MAX_LOOP_DEPTH} deep.")
            return
        stack += _references(top[name])


def _references(step: Raw) -> list[str]:
    """Return the top-level steps that a step's body names, at any depth."""
    body = step.get("body") if step.get("type") == "loop" else None
    if isinstance(body, str):
        return [body]
    inner = body if isinstance(body, list) else ()
    return [name for part in inner if isinstance(part, dict) for name in _references(part)]
