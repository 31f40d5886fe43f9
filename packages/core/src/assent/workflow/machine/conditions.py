"""Conditions as data: checked when a definition is read, evaluated against a scope.

`{var, operator: operand}`, `and`, `or`, `not`. Every key of one object must hold; a bare `var`
tests for truth. Equality ignores case and blanks and accepts `"3"` for 3 and `"yes"` for true,
since agents vary these. The text operators ignore case, and `contains` searches each entry of a
list. The ordering operators need numbers.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, Final

from assent.kernel.limits import MAX_CONDITION_DEPTH
from assent.kernel.patterns import BadPattern, compile_pattern
from assent.kernel.texts import quote
from assent.workflow.issues import START_AGAIN, Issue
from assent.workflow.machine.content import ContentRefused
from assent.workflow.machine.values import UNSET, Scope

Condition = dict[str, Any]

TRUE_WORDS: Final = frozenset({"true", "yes", "y", "on", "1"})
FALSE_WORDS: Final = frozenset({"false", "no", "n", "off", "0", ""})


def is_number(value: Any) -> bool:
    """Whether a value is a JSON number. Booleans are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def parse_number(text: str) -> int | float | None:
    """Parse a plainly written number; None for other text."""
    body = text.strip()
    if not body or not body.isascii() or body[-1].isalpha() or "_" in body or len(body) > 40:
        return None
    for kind in (int, float):
        try:
            return kind(body)
        except ValueError:
            continue
    return None


def same(left: Any, right: Any) -> bool:
    """Lenient equality."""
    if left is UNSET or right is UNSET:
        return (left is UNSET or left is None) and (right is UNSET or right is None)
    if isinstance(left, str) and isinstance(right, str):
        return left.strip().casefold() == right.strip().casefold()
    if isinstance(left, bool) or isinstance(right, bool):
        return (
            (left, right) != (None, None)
            and _truth_word(left) is not None
            and _truth_word(left) == _truth_word(right)
        )
    if isinstance(left, str) and is_number(right):
        return bool(parse_number(left) == right)
    if is_number(left) and isinstance(right, str):
        return bool(parse_number(right) == left)
    return (type(left) is type(right) and bool(left == right)) or (
        is_number(left) and is_number(right) and left == right
    )


def _truth_word(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if is_number(value):
        return bool(value) if value in (0, 1) else None
    if isinstance(value, str):
        word = value.strip().casefold()
        return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None
    return None


def truthy(value: Any) -> bool:
    """Whether a bare `var` holds: set, and not empty, zero, false or a word for false."""
    if isinstance(value, str):
        return value.strip().casefold() not in FALSE_WORDS
    return bool(value)


def _text(value: Any) -> str | None:
    """Return a text operator's operand: text, or a number as written; else None."""
    return value if isinstance(value, str) else str(value) if is_number(value) else None


def _contains(value: Any, operand: Any) -> bool:
    if isinstance(value, list):
        return any(same(item, operand) or _contains(item, operand) for item in value)
    text, part = _text(value), _text(operand)
    return text is not None and part is not None and part.strip().casefold() in text.casefold()


def _ends(method: str) -> Callable[[Any, Any], bool]:
    def holds(value: Any, operand: Any) -> bool:
        text = _text(value)
        return text is not None and bool(getattr(text.strip().casefold(), method)(operand.strip().casefold()))

    return holds


def _compare_numbers(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda value, operand: is_number(value) and is_number(operand) and compare(value, operand)


OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "equals": same,
    "not_equals": lambda value, operand: not same(value, operand),
    "gt": _compare_numbers(lambda value, operand: bool(value > operand)),
    "gte": _compare_numbers(lambda value, operand: bool(value >= operand)),
    "lt": _compare_numbers(lambda value, operand: bool(value < operand)),
    "lte": _compare_numbers(lambda value, operand: bool(value <= operand)),
    "in": lambda value, operand: any(same(value, choice) for choice in operand),
    "contains": _contains,
    "startsWith": _ends("startswith"),
    "endsWith": _ends("endswith"),
}
MATCHES: Final = "matches"
COMPOSITES: Final = ("and", "or", "not")
OPERANDS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "var": ("the name of a context variable", ("string",)),
    **dict.fromkeys(("gt", "gte", "lt", "lte"), ("a number", ("number",))),
    "in": ("a list of values", ("array",)),
    "contains": ("a text", ("string", "number", "boolean")),
    **dict.fromkeys(("startsWith", "endsWith", MATCHES), ("a text", ("string",))),
}
"""What a key takes, in words and as JSON types; `equals` and `not_equals` take any value."""
_IS: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
}


def holds(condition: Condition | None, scope: Scope) -> bool:
    """Whether a checked condition holds. None always holds."""
    if condition is None:
        return True
    value = scope.get(condition["var"]) if "var" in condition else UNSET
    if set(condition) == {"var"}:
        return truthy(value)
    for key, operand in condition.items():
        match key:
            case "var":
                continue
            case "and":
                kept = all(holds(part, scope) for part in operand)
            case "or":
                kept = any(holds(part, scope) for part in operand)
            case "not":
                kept = not holds(operand, scope)
            case "matches":
                kept = _matches(condition["var"], value, operand)
            case _:
                kept = OPERATORS[key](value, operand)
        if not kept:
            return False
    return True


def _matches(name: str, value: Any, pattern: str) -> bool:
    if (text := _text(value)) is None:
        return False
    try:
        return compile_pattern(pattern, "i").search(text)
    except BadPattern as error:
        issue = Issue(f"context.{name}", "pattern", f"{error} {START_AGAIN}")
        raise ContentRefused("validation_error", (issue,))


def check(condition: Any, path: str, level: int = 0) -> list[Issue]:
    """Return all issues of a condition as an author wrote it."""
    if not isinstance(condition, dict):
        return [
            Issue(
                path,
                "type",
                'A condition is an object such as {"var": "name", "equals": "value"}; '
                f"this is {quote(condition)}.",
            )
        ]
    if level > MAX_CONDITION_DEPTH:
        return [
            Issue(path, "too_deep", f"Conditions nest at most {MAX_CONDITION_DEPTH} deep; split this one.")
        ]
    if not condition:
        return [Issue(path, "empty", 'An empty condition says nothing; write {"var": "name"} or remove it.')]
    issues: list[Issue] = []
    operators = [key for key in condition if key in OPERATORS or key == MATCHES]
    if operators and "var" not in condition:
        issues.append(
            Issue(
                f"{path}.var", "required", f'"{operators[0]}" compares a variable; add "var" with its name.'
            )
        )
    for key, operand in condition.items():
        issues += _check_key(key, operand, f"{path}.{key}", level)
    return issues


def _check_key(key: str, operand: Any, path: str, level: int) -> list[Issue]:
    if key in ("and", "or"):
        if not isinstance(operand, list):
            return [Issue(path, "type", f'"{key}" takes a list of conditions.')]
        return [issue for n, part in enumerate(operand) for issue in check(part, f"{path}[{n}]", level + 1)]
    if key == "not":
        return check(operand, path, level + 1)
    if key not in OPERANDS and key not in OPERATORS:
        return [Issue(path, "unknown_operator", f"There is no operator {quote(key)}. {_suggest(key)}")]
    if key in OPERANDS:
        expected, types = OPERANDS[key]
        if not any(_IS[name](operand) for name in types) or (key == "var" and not operand.strip()):
            return [Issue(path, "type", f'"{key}" takes {expected}; this is {quote(operand)}.')]
    if key == MATCHES:
        try:
            compile_pattern(operand, "i")
        except BadPattern as error:
            return [Issue(path, "pattern", str(error))]
    return []


def _suggest(key: str) -> str:
    known = [*OPERATORS, MATCHES, *COMPOSITES, "var"]
    aliases = {
        "eq": "equals",
        "neq": "not_equals",
        "ne": "not_equals",
        "notEquals": "not_equals",
        "ge": "gte",
        "le": "lte",
        "regex": "matches",
        "exists": "var",
        "any": "or",
        "all": "and",
    }
    near = [aliases[key]] if key in aliases else difflib.get_close_matches(key, known, n=1)
    return f'Write "{near[0]}".' if near else f"Use one of: {', '.join(known)}."
