"""Checks of submitted content against the requirements of its step.

Issues name the field; the example can be sent as `output` unchanged and the notes example as the
notes, and both pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from assent.kernel.limits import MAX_BLOCKERS
from assent.workflow.contracts import criteria
from assent.workflow.contracts import examples as criteria_examples
from assent.workflow.contracts.registry import REGISTRY, name_kind
from assent.workflow.contracts.shapes import mismatches
from assent.workflow.issues import MAX_PATH_CHARS, Issue, quote
from assent.workflow.machine.content import Output, parse_output
from assent.workflow.machine.values import Scope
from assent.workflow.program import ASSESSMENT, LOOP_CONTROL, Ask, Assessment, Consequence, Contract

MAX_MESSAGE_CHARS: Final = 500
NOTES_EXAMPLE: Final = "What I did: …\nWhat I found: …\nWhat comes next: …"


def check(step: Ask, notes: str | None, output: Output, raw: Any, scope: Callable[[], Scope]) -> list[Issue]:
    """Return the issues of submitted content: missing notes (W30, W31), output against the contract
    (W34), rules and assessments. `scope` is called only if a rule needs it."""
    issues = _check_contract(step.contract, output) if step.contract else []
    if step.assessments or output.artifacts:
        issues += _check_assessments(step, output)
    blank = not (notes or "").strip()
    if blank and step.notes_required:
        issues.append(
            Issue("notesMarkdown", "notes_required", "This step needs notes: say what you did and found.")
        )
    elif step.criteria is not None:
        failed = criteria.failures(step.criteria, notes or "", raw, scope())
        if blank and failed and raw is None:
            issues.append(
                Issue("notesMarkdown", "notes_required", "This step needs notes that pass its rules.")
            )
        issues += [Issue("notesMarkdown", f"criteria_{part.code}", part.message) for part in failed]
    return issues


def _check_contract(contract: Contract, output: Output) -> list[Issue]:
    if contract.kind is None or contract.schema is None:
        if contract.required and not output.artifacts:
            return [
                Issue(
                    "output", "missing_output", f"Send an output for {contract.ref}: any object with a kind."
                )
            ]
        return []
    found = output.of_kind(contract.kind)
    if not found:
        if not contract.required:
            return []
        sent = ", ".join(sorted({str(artifact.get("kind")) for _, artifact in output.artifacts}))
        more = f" You sent {sent}." if sent else ""
        return [Issue("output", "missing_output", f'Send an output of kind "{contract.kind}".{more}')]
    shape = contract.schema
    return [issue for path, artifact in found for issue in mismatches(artifact, shape, path)]


def check_decisions(output: Output) -> list[Issue]:
    """Return the issues of invalid loop decisions, which decide nothing."""
    return _check_kind(output.of_kind(LOOP_CONTROL), "wr.contracts.loop_control")


def _check_kind(sent: list[tuple[str, dict[str, Any]]], contract: str) -> list[Issue]:
    shape = REGISTRY[contract].schema or {}
    return [issue for path, artifact in sent for issue in mismatches(artifact, shape, path)]


def _check_assessments(step: Ask, output: Output) -> list[Issue]:
    sent = output.of_kind(ASSESSMENT)
    if issues := _check_kind(sent, "wr.contracts.assessment"):
        return issues
    for wanted in step.assessments:
        found = _submission(wanted, step, sent)
        if found is not None:
            issues += _check_levels(wanted, *found)
            issues += _consequences(step, wanted, *found)
        elif step.consequences:
            message = f'Send a wr.assessment with assessmentId "{wanted.id}" and a level for each dimension.'
            issues.append(Issue("output", "missing_assessment", message))
    return issues


def _submission(
    wanted: Assessment, step: Ask, sent: list[tuple[str, dict[str, Any]]]
) -> tuple[str, dict[str, Any]] | None:
    """Return the latest submission for an assessment, by its id or its dimensions."""
    names = {dimension.id for dimension in wanted.dimensions}
    for path, artifact in reversed(sent):
        if artifact.get("assessmentId") == wanted.id:
            return path, artifact
        if "assessmentId" not in artifact and (
            names & set(artifact["dimensions"]) or len(step.assessments) == 1
        ):
            return path, artifact
    return None


def _level(value: Any) -> Any:
    return value.get("level") if isinstance(value, dict) else value


def _check_levels(wanted: Assessment, path: str, artifact: dict[str, Any]) -> list[Issue]:
    issues: list[Issue] = []
    for dimension in wanted.dimensions:
        where = f"{path}.dimensions.{dimension.id}"
        level = _level(artifact["dimensions"].get(dimension.id))
        if level is None:
            if dimension.required:
                issues.append(Issue(where, "required", f"Give a level: {', '.join(dimension.levels)}."))
        elif not isinstance(level, str) or level.strip().casefold() not in {
            name.casefold() for name in dimension.levels
        }:
            issues.append(
                Issue(where, "enum", f"Write one of {', '.join(dimension.levels)}; this is {quote(level)}.")
            )
    return issues


def _consequences(step: Ask, wanted: Assessment, path: str, artifact: dict[str, Any]) -> list[Issue]:
    """Return the follow-ups that the reached levels of an assessment require (W38)."""
    levels = {name: str(_level(value)).strip().casefold() for name, value in artifact["dimensions"].items()}
    return [
        Issue(f"{path}.dimensions.{name}", "assessment_followup", consequence.guidance)
        for consequence in step.consequences
        if consequence.assessment in (None, wanted.id)
        for name, level in sorted(levels.items())
        if level == consequence.level.strip().casefold()
    ]


def limit_issues(issues: list[Issue]) -> tuple[Issue, ...]:
    """Return at most ten short issues, sorted, so that equal content gets equal answers (W36)."""
    cut = [
        msgspec.structs.replace(
            issue,
            path=issue.path[:MAX_PATH_CHARS],
            message=issue.message
            if len(issue.message) <= MAX_MESSAGE_CHARS
            else issue.message[:MAX_MESSAGE_CHARS] + "…",
        )
        for issue in sorted(set(issues))
    ]
    return tuple(cut[:MAX_BLOCKERS])


RESULT: Final = "result"
"""The kind of an output that only a schema rule requires."""


def examples(
    step: Ask, decisions: tuple[dict[str, Any], ...], scope: Scope
) -> tuple[dict[str, Any] | None, str | None]:
    """Return an output and notes that pass the step, else the contract's example."""
    needed = _example_parts(step, decisions)
    if needed is None:
        return None, _example_notes(step, None, scope)
    for more in ((), *criteria_examples.documents(step.criteria or [], scope)):
        output = join_artifacts([*needed, *({"kind": RESULT, **each} for each in more)])
        notes = _example_notes(step, output, scope)
        if notes is None and step.criteria is not None:
            continue
        taken, bad = parse_output(output)
        if not bad and not check(step, notes, taken, output, lambda: scope):
            return output, notes
    return join_artifacts(needed), None


def join_artifacts(parts: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Join artifacts into one output."""
    return None if not parts else parts[0] if len(parts) == 1 else {"artifacts": parts}


def _example_parts(step: Ask, decisions: tuple[dict[str, Any], ...]) -> list[dict[str, Any]] | None:
    """Return artifacts that pass the step; None if every level requires a follow-up."""
    parts = list(decisions)
    if step.contract is not None and step.contract.kind not in {part["kind"] for part in decisions}:
        parts.insert(0, step.contract.example or {"kind": name_kind(step.contract.ref)})
    for wanted in step.assessments if step.consequences else ():
        if (made := make_assessment(wanted, step.consequences)) is None:
            return None
        parts.append(made)
    return parts


def make_assessment(wanted: Assessment, consequences: tuple[Consequence, ...]) -> dict[str, Any] | None:
    bad = {part.level.strip().casefold() for part in consequences if part.assessment in (None, wanted.id)}
    dimensions: dict[str, Any] = {}
    for dimension in wanted.dimensions:
        good = [level for level in dimension.levels if level.strip().casefold() not in bad]
        if not good:
            return None
        dimensions[dimension.id] = {"level": good[-1], "rationale": "Replace this with what shows it."}
    return {"kind": ASSESSMENT, "assessmentId": wanted.id, "dimensions": dimensions}


def _example_notes(step: Ask, output: Any, scope: Scope) -> str | None:
    """Return notes that pass the step with this output, if it has rules or needs notes."""
    if step.criteria is not None:
        return criteria_examples.example(step.criteria, output, scope)
    return NOTES_EXAMPLE if step.notes_required else None
