"""Validation criteria: an author's rules for the notes of a step (W35).

A rule, a list of rules, or `and` / `or` / `not` of them. Each failing rule gives its own message.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.kernel.canonical import depth
from assent.kernel.limits import MAX_CONDITION_DEPTH, MAX_JSON_DEPTH, MAX_STEP_PATTERNS
from assent.kernel.patterns import BadPattern, compile_pattern
from assent.kernel.shapes import Shape
from assent.kernel.structs import Record
from assent.workflow.definition.format import OBJECT, record, text
from assent.workflow.issues import START_AGAIN, Issue, check_shape, mismatches
from assent.workflow.machine import conditions
from assent.workflow.machine.values import Scope

Criteria = list[Any] | dict[str, Any]

_COUNT: Final[Shape] = {"type": "number", "minimum": 0}
RULE: Final = record(
    "type message",
    type={"enum": ["contains", "regex", "length", "schema"]},
    value=text(),
    pattern=text(),
    flags=text(0, 8),
    min=_COUNT,
    max=_COUNT,
    message=text(),
    schema=OBJECT,
    condition=OBJECT,
)
NEEDS: Final = {
    "contains": ("value",),
    "regex": ("pattern",),
    "schema": ("schema",),
    "length": ("min", "max"),
}
"""By type of a rule: the fields of which it needs one."""


class FailedRule(Record):
    """A rule that does not hold: its message, and the code of its type."""

    code: str
    message: str


def check_criteria(criteria: Any, path: str) -> list[Issue]:
    """Return all issues of criteria as an author wrote them."""
    issues = _check(criteria, path, 0)
    if not issues and (count := _patterns(criteria)) > MAX_STEP_PATTERNS:
        message = f"There are {count} regex rules; at most {MAX_STEP_PATTERNS} are taken. Join them, or split the step."
        issues.append(Issue(path, "too_many", message))
    return issues


def _patterns(criteria: Criteria) -> int:
    if isinstance(criteria, dict) and "type" in criteria:
        return int(criteria["type"] == "regex")
    return sum(map(_patterns, criteria if isinstance(criteria, list) else criteria.values()))


def _check(criteria: Any, path: str, level: int) -> list[Issue]:
    if level > MAX_CONDITION_DEPTH:
        return [Issue(path, "too_deep", f"Criteria nest at most {MAX_CONDITION_DEPTH} deep.")]
    if isinstance(criteria, list):
        return [issue for n, part in enumerate(criteria) for issue in _check(part, f"{path}[{n}]", level + 1)]
    if not isinstance(criteria, dict):
        return [Issue(path, "type", "Write a rule, a list of rules, or an object with and, or or not.")]
    if composed := [key for key in ("and", "or", "not") if key in criteria]:
        return _check_composition(criteria, composed, path, level)
    issues = mismatches(criteria, RULE, path)
    if issues:
        return issues
    needed = NEEDS[criteria["type"]]
    if not set(needed) & set(criteria):
        choices = " or ".join(f'"{name}"' for name in needed)
        issues.append(Issue(f"{path}.{needed[0]}", "required", f"A {criteria['type']} rule needs {choices}."))
    if criteria.get("min", 0) > criteria.get("max", criteria.get("min", 0)):
        issues.append(Issue(f"{path}.max", "too_small", 'No length fits: write a "max" of at least "min".'))
    if criteria["type"] == "regex" and "pattern" in criteria:
        try:
            compile_pattern(criteria["pattern"], criteria.get("flags", ""))
        except BadPattern as error:
            issues.append(Issue(f"{path}.pattern", "pattern", str(error)))
    if "schema" in criteria:
        issues += check_shape(criteria["schema"], f"{path}.schema")
    if "condition" in criteria:
        issues += conditions.check(criteria["condition"], f"{path}.condition")
    return issues


def _check_composition(criteria: dict[str, Any], composed: list[str], path: str, level: int) -> list[Issue]:
    if len(composed) > 1 or len(criteria) > 1:
        return [Issue(path, "ambiguous", "Write exactly one of and, or, not here, and nothing beside it.")]
    key = composed[0]
    if key != "not" and not (isinstance(criteria[key], list) and criteria[key]):
        return [Issue(f"{path}.{key}", "type", f'"{key}" takes a list with at least one rule.')]
    return _check(criteria[key], f"{path}.{key}", level + 1)


def failures(criteria: Criteria | None, notes: str, output: Any, scope: Scope) -> list[FailedRule]:
    """Return the rules that do not hold, with their messages (W35), in the author's order. If the
    program has a pattern of an older server that is not supported, return that as the only failure."""
    applying = _applying(criteria, scope) if criteria is not None else None
    try:
        return [] if applying is None else _failures(applying, notes, output)
    except BadPattern as error:
        return [FailedRule("pattern", f"{error} {START_AGAIN}")]


def _applying(criteria: Criteria, scope: Scope) -> Criteria | None:
    """Return the criteria without the rules whose condition does not hold; None if none is left.

    A rule that does not apply neither passes an `or` nor fails a `not`.
    """
    if isinstance(criteria, list):
        parts = [part for part in (_applying(each, scope) for each in criteria) if part is not None]
        return parts or None
    for key in ("and", "or", "not"):
        if key in criteria:
            inner = _applying(criteria[key], scope)
            return None if inner is None else {key: inner}
    return criteria if conditions.holds(criteria.get("condition"), scope) else None


def _failures(criteria: Criteria, notes: str, output: Any) -> list[FailedRule]:
    if isinstance(criteria, list):
        return [failure for part in criteria for failure in _failures(part, notes, output)]
    if "and" in criteria:
        return _failures(criteria["and"], notes, output)
    if "or" in criteria:
        attempts = [_failures(part, notes, output) for part in criteria["or"]]
        return [failure for part in attempts for failure in part] if all(attempts) else []
    if "not" in criteria:
        if _failures(criteria["not"], notes, output):
            return []
        return [FailedRule("not", f"Ruled out here: {message}") for message in _messages(criteria["not"])]
    if _holds(criteria, notes, output):
        return []
    return [FailedRule(criteria["type"], criteria["message"])]


def requirements(criteria: Criteria) -> list[tuple[str, dict[str, Any] | None]]:
    """Describe the rules for the agent, each with its condition."""
    if isinstance(criteria, list):
        return [line for part in criteria for line in requirements(part)]
    if "and" in criteria:
        return requirements(criteria["and"])
    if "or" in criteria:
        choices = [line for part in criteria["or"] for line, _ in requirements(part)]
        return [("one of: " + "; or: ".join(choices), None)]
    if "not" in criteria:
        return [(f"not: {line}", when) for line, when in requirements(criteria["not"])]
    bounds = [
        f"{word} {criteria[key]}"
        for key, word in (("min", "at least"), ("max", "at most"))
        if key in criteria
    ]
    details = {
        "contains": f"contain `{criteria.get('value')}`",
        "regex": f"match `{criteria.get('pattern')}`",
        "length": f"have {' and '.join(bounds)} characters",
        "schema": "fit its schema",
    }
    return [(f"{details[criteria['type']]} ({criteria['message']})", criteria.get("condition"))]


def _messages(criteria: Criteria) -> list[str]:
    if isinstance(criteria, list):
        return [message for part in criteria for message in _messages(part)]
    for key in ("and", "or", "not"):
        if key in criteria:
            return _messages(criteria[key])
    return [criteria["message"]]


def _holds(rule: dict[str, Any], notes: str, output: Any) -> bool:
    match rule["type"]:
        case "contains":
            return rule["value"].casefold() in notes.casefold()
        case "regex":
            return compile_pattern(rule["pattern"], rule.get("flags", "")).search(notes)
        case "length":
            return bool(rule.get("min", 0) <= len(notes) <= rule.get("max", len(notes)))
        case _:
            documents = _documents(notes, output)
            return any(not mismatches(each, rule["schema"], "output") for each in documents)


def _documents(notes: str, output: Any) -> list[Any]:
    """Return the values for a schema: the output and its artifacts, else the notes."""
    if output is None:
        return [_document(notes)]
    listed = output.get("artifacts") if isinstance(output, dict) and "kind" not in output else None
    return [output, *(listed if isinstance(listed, list) else ())]


def _document(notes: str) -> Any:
    try:
        document = msgspec.json.decode(notes)
    except (msgspec.DecodeError, RecursionError):
        return notes
    return document if depth(document) <= MAX_JSON_DEPTH else notes
