"""Checks of submitted content against the requirements of its step.

Issues name the field; the example can be sent as `output` unchanged and the notes example as the
notes, and both pass.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from assent.kernel.limits import MAX_BLOCKERS, MAX_NOTES_BYTES
from assent.kernel.patterns import SET, BadPattern, compile_pattern
from assent.kernel.shapes import Shape
from assent.kernel.structs import Record
from assent.kernel.texts import quote, to_text
from assent.workflow.contracts import criteria
from assent.workflow.contracts.criteria import Criteria, failures, requirements
from assent.workflow.contracts.registry import REGISTRY, name_kind
from assent.workflow.issues import MAX_PATH_CHARS, Issue, mismatches
from assent.workflow.machine import conditions
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
    for more in ((), *documents(step.criteria or [], scope)):
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
        return example(step.criteria, output, scope)
    return NOTES_EXAMPLE if step.notes_required else None


# Notes that pass an author's rules, for an agent to start from (W34, W35).
#
# Combines the words that the rules name in a few ways and returns the first text that passes the rules. A value for a
# schema rule can also be in the output. Rules that contradict each other, or that no such text passes, have no
# example.

_MAX_WAYS: Final = 16
_MAX_TRIED_CHARS: Final = 400_000
"""Bound on the characters tried, because a blocked agent waits."""
_MAX_CHOICES: Final = 3
_MAX_ORDERS: Final = 24
_FILLER: Final = "Replace this line with what you did and found. "
_NOTHING_NAMED: Final = ("Done.", "Noted.", "OK", "1")
_PART: Final = re.compile(
    rf"{SET}|\\x(?:\{{[^}}]*\}}|..)|\\.|\((?:\?(?:P?<\w+>|[imsU-]*[:)]))?|[*+?]\??|\{{\d+(?:,\d*)?\}}\??|.",
    re.DOTALL,
)
"""A part of a pattern: a bracket, a repetition, or what stands for one character."""
_REPETITION: Final = re.compile(r"([*+?])\??|\{(\d+)(,?)(\d*)\}\??")
_LIKELY: Final = "aA0 _-.:#*/\n"
_A_WORD: Final = " and "
"""Written where any text matches, so that another text can be inserted."""


class _Wanted(Record):
    """One choice at every `or`: words, values for schemas, and the text's length."""

    words: tuple[str, ...] = ()
    documents: tuple[Any, ...] = ()
    least: int = 0
    most: int = MAX_NOTES_BYTES

    def beside(self, other: _Wanted) -> _Wanted:
        return _Wanted(
            (*self.words, *other.words),
            (*self.documents, *other.documents),
            max(self.least, other.least),
            min(self.most, other.most),
        )


def example(criteria: Criteria, output: Any, scope: Scope) -> str | None:
    """Return notes that pass with this output, or None."""
    left = _MAX_TRIED_CHARS
    rules = len(requirements(criteria))
    tried: set[str] = set()
    for candidate in _candidates(criteria, output, scope):
        if candidate in tried or not candidate.strip() or len(candidate.encode()) > MAX_NOTES_BYTES:
            continue
        if not failures(criteria, candidate, output, scope):
            return candidate
        tried.add(candidate)
        left -= len(candidate) * rules
        if left < 0:
            break
    return None


def documents(criteria: Criteria, scope: Scope) -> Iterator[tuple[dict[str, Any], ...]]:
    """Yield a few choices of objects for an output that match the schema rules."""
    found = (
        tuple(each for each in way.documents if isinstance(each, dict)) for way in _ways(criteria, scope)
    )
    return itertools.islice(filter(None, found), _MAX_CHOICES)


def _candidates(criteria: Criteria, output: Any, scope: Scope) -> Iterator[str]:
    for way in _ways(criteria, scope):
        # If there is an output, the schemas apply to it.
        written = () if output is not None else map(to_text, way.documents)
        for text in _texts([word for word in (*way.words, *written) if word]):
            yield from _fit(text, way)


def _texts(words: list[str]) -> Iterator[str]:
    """Yield texts of the words: in order, alone, in other orders, and one inside another."""
    yield " ".join(["Done.", *(f"{word}." for word in words)])
    yield from ("\n".join(words), " ".join(words), "".join(words), *words)
    yield from () if words else _NOTHING_NAMED
    for order in itertools.islice(itertools.permutations(words), 1, _MAX_ORDERS):
        yield from (" ".join(order), "\n".join(order))
    for n, word in enumerate(words):
        others = " ".join(words[:n] + words[n + 1 :])
        yield word.replace(_A_WORD, _A_WORD + others + _A_WORD, 1)


def _fit(text: str, way: _Wanted) -> Iterator[str]:
    """Yield the text at the required length: unchanged, padded or cut."""
    if len(text) < way.least:
        for filler, gap in itertools.product((_FILLER, "x"), (" ", "\n", "")):
            room = max(way.least - len(text) - len(gap), 0)
            whole = filler * math.ceil(room / len(filler))
            fill = whole if len(text + gap + whole) <= way.most else whole[:room]
            yield from (text + gap + fill, fill + gap + text, text.replace(_A_WORD, gap + fill + _A_WORD, 1))
    elif len(text) > way.most:
        yield text[: way.most].rstrip() or text[: way.most]
    else:
        yield text


def _ways(criteria: Criteria, scope: Scope) -> list[_Wanted]:
    if isinstance(criteria, list) or "and" in criteria:
        parts = criteria if isinstance(criteria, list) else criteria["and"]
        ways = [_Wanted()]
        for part in parts:
            ways = [one.beside(other) for other in _ways(part, scope) for one in ways][:_MAX_WAYS]
        return ways
    if "or" in criteria:
        choices = itertools.chain.from_iterable(_ways(part, scope) for part in criteria["or"])
        return list(itertools.islice(choices, _MAX_WAYS))
    if "not" in criteria:
        return _other_lengths(criteria["not"])
    if "condition" in criteria and not conditions.holds(criteria["condition"], scope):
        return [_Wanted()]
    match criteria["type"]:
        case "contains":
            return [_Wanted((criteria["value"],))]
        case "regex":
            samples = (sample(criteria["pattern"], roomy=roomy) for roomy in (False, True))
            return [_Wanted((text,)) for text in dict.fromkeys(samples)]
        case "length":
            least, most = math.ceil(criteria.get("min", 0)), int(criteria.get("max", MAX_NOTES_BYTES))
            return [_Wanted(least=least, most=most)]
        case _:
            return [_Wanted(documents=(make_value(criteria["schema"]),))]


def sample(pattern: str, *, roomy: bool) -> str:
    """Return a short text that the pattern should match: the first choice everywhere. The caller checks it.

    A roomy sample fills optional parts too, and has a word where any text matches.
    """
    if pattern.lstrip("^").startswith("(?!"):
        return ""  # it names only what the text must not contain
    return _sample_group(iter(_PART.findall(pattern)), roomy)


def _sample_group(parts: Iterator[str], roomy: bool) -> str:
    """Return a text for the parts up to the bracket that closes the group."""
    texts, last, repeated = [""], "", ""
    for part in parts:
        if part == ")":
            break
        if part == "|":
            texts[-1] += last
            texts.append("")
            last = repeated = ""
        elif (times := _REPETITION.fullmatch(part)) is not None:
            least = int(times[2] or times[1] == "+")
            most = int(times[4] or 1_000) if times[3] or times[1] in ("*", "+") else max(least, 1)
            if roomy and most >= len(_A_WORD) and repeated and _fits(f"(?:{repeated})*", _A_WORD):
                last = _A_WORD.ljust(min(least, 200), "x")
            else:
                last *= min(max(least, int(roomy)), 200)
        else:
            texts[-1] += last
            repeated = "" if part.startswith("(") else part
            last = _character(part) if repeated else "" if part[-1] == ")" else _sample_group(parts, roomy)
    return texts[0] if len(texts) > 1 else texts[0] + last


def _character(part: str) -> str:
    """Return a character for a part; none for an edge such as `^`."""
    if len(part) == 1 and part not in ".^$":
        return part
    return next((char for char in (*_LIKELY, *part) if _fits(part, char)), "")


def _fits(part: str, text: str) -> bool:
    try:
        return compile_pattern(f"^(?:{part})$", "s").search(text)
    except BadPattern:
        return False


def _other_lengths(ruled_out: Criteria) -> list[_Wanted]:
    """Return the lengths outside an excluded range. Other negated rules name nothing to write."""
    if isinstance(ruled_out, list) or ruled_out.get("type") != "length":
        return [_Wanted()]
    longer = [_Wanted(least=int(ruled_out["max"]) + 1)] if "max" in ruled_out else []
    shorter = [_Wanted(most=math.ceil(ruled_out["min"]) - 1)] if ruled_out.get("min", 0) > 1 else []
    return longer + shorter or [_Wanted()]


def make_value(shape: Shape, level: int = 0) -> Any:
    """Build a minimal value of a shape: the required fields, each with the least allowed value."""
    within = level + 1
    for key in ("const", "default", "example"):
        if key in shape:
            return shape[key]
    for key in ("enum", "examples"):
        if isinstance(shape.get(key), list) and shape[key]:
            return shape[key][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in shape and "type" not in shape:
            return make_value(shape[key][0], within)
    kind = shape.get("type", "object" if "properties" in shape or "required" in shape else "string")
    match kind[0] if isinstance(kind, list) and kind else kind:
        case "object":
            known = shape.get("properties", {})
            return {name: make_value(known.get(name, {}), within) for name in shape.get("required", ())}
        case "array":
            # Nested lists grow exponentially.
            count = min(shape.get("minItems", 0), max(1, 64 >> 2 * level))
            return [make_value(shape.get("items", {}), within) for _ in range(count)]
        case "string":
            text = sample(shape["pattern"], roomy=True) if "pattern" in shape else "text"
            return text.ljust(min(shape.get("minLength", 0), 1_000), "x")[: shape.get("maxLength")]
        case "integer" | "number":
            least = shape.get("minimum", shape.get("exclusiveMinimum", -1) + 1)
            return min(max(least, 0), shape.get("maximum", max(least, 0)))
        case "boolean":
            return True
        case _:
            return None
