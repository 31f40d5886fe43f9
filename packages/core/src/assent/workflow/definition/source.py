"""A definition as its author wrote it: parsed from a decoded document, checked, and frozen (W59).

Reports every error with file, JSON path and advice. Knows nothing of files, other definitions or
execution. The compiler resolves references to routines, texts and contracts, because an unknown
name is only a warning there.

Beyond the shape of each field, the ids of steps are unique, loops are bounded and not circular, conditions
and rules can be evaluated, and every step has its content (a prompt, a template or a body).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assent.kernel.canonical import NotCanonical, canonical
from assent.kernel.limits import MAX_LOOP_DEPTH, MAX_PROBLEMS, MAX_WORKFLOW_BYTES, MAX_WORKFLOW_STEPS
from assent.kernel.structs import WireRecord
from assent.kernel.texts import quote
from assent.workflow.contracts.criteria import check_criteria
from assent.workflow.definition.format import (
    CONDITION_SOURCES,
    CONFIRMATION_KINDS,
    LOOP_NEEDS,
    STEP_SHAPES,
    WORKFLOW,
)
from assent.workflow.issues import (
    Issue,
    check_shape,
    find_duplicates,
    list_entries,
    mismatches,
    shorten,
    walk_values,
)
from assent.workflow.machine import conditions
from assent.workflow.machine.content import RESERVED
from assent.workflow.program import PLAN

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
            if rule["kind"] == PLAN and "action" in step:
                message = "A step with an action waits for the approval of that. Ask for the plan in the step after it."
                yield Issue(f"{path}.requireConfirmation.kind", "plan_with_action", message)
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


_FUNCTION: Final = re.compile(
    r"(?:\*\*[^*]+\*\*\s*)?(?:fun\s+(?P<fun>[A-Za-z_]\w*)\((?P<arguments>[^()]*)\)\s*=\s*"
    r"|(?P<name>[A-Za-z_]\w*)\(\)(?P<part>[^:=]{0,40}):\s*)(?P<text>\S.*)",
    re.DOTALL,
)
_NAMED: Final = (
    ("assessments", "id"),
    ("references", "id"),
    ("extensionPoints", "slotId"),
    ("functionDefinitions", "name"),
)


class Part(WireRecord, kw_only=True):
    """Base of all parts of a definition: camel case on disk, fields may be absent."""


class Loop(Part, frozen=True):
    """The repetition of a loop step. Only the fields of its `type` are set."""

    type: str
    max_iterations: int
    condition: dict[str, Any] | None = None
    condition_source: dict[str, Any] | None = None
    items: str | None = None
    count: int | str | None = None
    iteration_var: str | None = None
    item_var: str | None = None
    index_var: str | None = None


class Delegation(Part, frozen=True):
    """A piece of work that a parallel step gives to a helper."""

    workflow_id: str
    goal: str | None = None
    run_condition: dict[str, Any] | None = None
    context_mapping: dict[str, str] = {}
    args: dict[str, str] = {}
    model_tier: str | None = None
    allowed_tools: tuple[str, ...] = ()


class Fragment(Part, frozen=True):
    """Text that is added to a prompt while its condition holds."""

    id: str
    text: str
    when: dict[str, Any] | None = None


class Function(Part, frozen=True):
    """A named instruction that steps refer to."""

    name: str
    definition: str
    parameters: tuple[dict[str, Any], ...] = ()
    scope: str | None = None


class TemplateCall(Part, frozen=True):
    """A call of a routine, whose steps replace this step."""

    template_id: str
    args: dict[str, Any] = {}


class Step(Part, frozen=True):
    """One entry of `steps`: plain, loop or parallel, by its `type`."""

    id: str
    title: str
    type: str = "step"
    prompt: str | None = None
    prompt_blocks: dict[str, Any] | None = None
    prompt_fragments: tuple[Fragment, ...] = ()
    agent_role: str | None = None
    model_tier: str | None = None
    guidance: tuple[str, ...] = ()
    ask_for_files: bool = False
    has_validation: bool = False
    require_confirmation: bool | dict[str, Any] = False
    confirmation_prompt: str | None = None
    run_condition: dict[str, Any] | None = None
    validation_criteria: list[Any] | dict[str, Any] | None = None
    output_contract: dict[str, Any] | None = None
    assessment_refs: tuple[str, ...] = ()
    assessment_consequences: tuple[dict[str, Any], ...] = ()
    notes_optional: bool | None = None
    function_definitions: tuple[Function, ...] = ()
    function_calls: tuple[dict[str, Any], ...] = ()
    function_references: tuple[str, ...] = ()
    template_call: TemplateCall | None = None
    audit: dict[str, Any] | None = None
    verification: dict[str, Any] | None = None
    action: dict[str, Any] | None = None
    on_reject: str = "stay"
    loop: Loop | None = None
    body: str | tuple[Step, ...] | None = None
    parallel_delegations: tuple[Delegation, ...] = ()
    synthesis: dict[str, Any] | None = None


class Definition(Part, frozen=True):
    """A whole definition file that passed every check."""

    id: str
    name: str
    description: str
    version: str
    steps: tuple[Step, ...]
    model_tier: str | None = None
    about: str | None = None
    examples: tuple[str, ...] = ()
    preconditions: tuple[str, ...] = ()
    clarification_prompts: tuple[str, ...] = ()
    meta_guidance: tuple[str, ...] = ()
    function_definitions: tuple[Function, ...] = ()
    recommended_preferences: dict[str, str] = {}
    features: tuple[str, ...] = ()
    assessments: tuple[dict[str, Any], ...] = ()
    extension_points: tuple[dict[str, Any], ...] = ()
    references: tuple[dict[str, Any], ...] = ()
    metrics_profile: str = "none"


class DefinitionRefused(Exception):  # noqa: N818 - an answer to the author
    """The file is no valid workflow; `issues` has all its errors, `file` its name."""

    def __init__(self, file: str, issues: tuple[Issue, ...]) -> None:
        super().__init__(f"{file}: " + "; ".join(f"{issue.path}: {issue.message}" for issue in issues[:3]))
        self.file = file
        self.issues = issues


def parse(document: Any, file: str) -> Definition:
    """Parse a decoded JSON or YAML document. Raises `DefinitionRefused` with every issue (W59)."""
    try:
        plain = canonical(document)
    except (NotCanonical, TypeError):
        raise DefinitionRefused(file, (shorten(_without_form(document)),))
    if (size := len(plain)) > MAX_WORKFLOW_BYTES:
        message = f"The definition has {size} bytes; at most {MAX_WORKFLOW_BYTES} are taken. Split it into routines."
        raise DefinitionRefused(file, (Issue("$", "too_large", message),))
    issues = list(_issues(document))
    if issues:
        raise DefinitionRefused(file, tuple(map(shorten, issues[:MAX_PROBLEMS])))
    # Read back from the canonical form, so that nothing depends on the order of keys, and 5.0 is 5.
    return msgspec.convert(msgspec.json.decode(plain), Definition)


def _without_form(document: Any) -> Issue:
    """Return the issue of a value or key that JSON cannot express."""
    path, odd = "$", document
    for path, odd in walk_values(document):
        try:
            canonical({path: None} if isinstance(odd, (dict, list)) else {path: odd})
        except (NotCanonical, TypeError):
            break
    path = path.encode("utf-8", "replace").decode()
    message = f"JSON has no form for {quote(odd)}: write a number up to 2^53, or a text of plain characters."
    return Issue(path, "not_json", message)


def _issues(document: Any) -> Iterator[Issue]:
    yield from mismatches(document, WORKFLOW, "$")
    if isinstance(document, dict):
        for field, key in _NAMED:
            yield from find_duplicates(document, field, key, "$")
        for n, entry in enumerate(list_entries(document, "assessments")):
            if isinstance(entry, dict):
                yield from find_duplicates(entry, "dimensions", "id", f"$.assessments[{n}]")
        if isinstance(document.get("steps"), list):
            yield from check_steps(document)


def collect_functions(definition: Definition) -> dict[str, Function]:
    """Return the functions by name: declared ones, and those that older libraries write as lines of
    the guidance (`name(): what it does`, `fun name(arguments) = 'what it does'`). Lines of one name
    are one function."""
    found: dict[str, list[str]] = {}
    for line in definition.meta_guidance:
        if (match := _FUNCTION.match(line)) is None:
            continue
        given, part = match["arguments"], (match["part"] or "").strip()
        head = f"({given}) = " if given else f"{part}: " if part else ""
        found.setdefault(match["fun"] or match["name"], []).append(head + match["text"].strip())
    written = {name: Function(name=name, definition=" ".join(texts)) for name, texts in found.items()}
    return written | {function.name: function for function in definition.function_definitions}
