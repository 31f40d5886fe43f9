"""Notes that pass an author's rules, for an agent to start from (W34, W35).

Combines the words that the rules name in a few ways and returns the first text that passes the
rules. A value for a schema rule can also be in the output. Rules that contradict each other, or
that no such text passes, have no example.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any, Final

from assent.kernel.limits import MAX_NOTES_BYTES
from assent.kernel.patterns import SET, BadPattern, compile_pattern
from assent.kernel.structs import Record
from assent.kernel.texts import to_text
from assent.workflow.contracts.criteria import Criteria, failures, requirements
from assent.workflow.contracts.shapes import Shape
from assent.workflow.machine import conditions
from assent.workflow.machine.values import Scope

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
