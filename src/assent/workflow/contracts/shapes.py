"""Shapes of JSON values: the subset of JSON Schema for definitions, contracts and authors' rules.

Reports every mismatch with its path and advice (a schema node may have its own `hint`). There are
no external references, and the time is linear in the value for any schema that passed
`check_shape`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import Any, Final

from assent.kernel.limits import MAX_CONDITION_DEPTH
from assent.kernel.patterns import BadPattern, compile_pattern
from assent.workflow.issues import START_AGAIN, Issue, quote
from assent.workflow.machine.conditions import is_number

Shape = dict[str, Any]

TYPES: Final[dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "object": ("an object", lambda value: isinstance(value, dict)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "string": ("a text", lambda value: isinstance(value, str)),
    "number": ("a number", is_number),
    "integer": ("a whole number", lambda value: is_number(value) and value == int(value)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "null": ("null", lambda value: value is None),
}
KEYWORDS: Final = frozenset(
    [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "const",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minProperties",
        "maxProperties",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "hint",
        "title",
        "description",
        "default",
        "examples",
        "example",
        "$schema",
        "$id",
        "$comment",
        "format",
    ]
)
_MAX_LISTED: Final = 200


def mismatches(value: Any, shape: Shape, path: str) -> list[Issue]:
    """Return the issues of a value that does not match the shape; empty if it does."""
    found: list[Issue] = []
    try:
        for issue in _walk(value, shape, path):
            found.append(issue)
            if len(found) >= _MAX_LISTED:
                break
    except _Unjudged as stopped:
        found.append(stopped.issue)
    return found


class _Unjudged(Exception):  # noqa: N818 - a state of the shape
    """A pattern of an older server is not supported, so the match is undecided."""

    def __init__(self, issue: Issue) -> None:
        super().__init__(issue.message)
        self.issue = issue


def _walk(value: Any, shape: Shape, path: str) -> Iterator[Issue]:
    hint = f" {shape['hint']}" if "hint" in shape else ""
    if "type" in shape:
        names = shape["type"] if isinstance(shape["type"], list) else [shape["type"]]
        if not any(TYPES[name][1](value) for name in names):
            wanted = " or ".join(TYPES[name][0] for name in names)
            yield Issue(path, "type", f"Write {wanted}; this is {quote(value)}.{hint}")
            return
    if "const" in shape and not _equal(value, shape["const"]):
        yield Issue(path, "const", f"Write {quote(shape['const'])}; this is {quote(value)}.{hint}")
    if "enum" in shape and not any(_equal(value, choice) for choice in shape["enum"]):
        choices = ", ".join(quote(choice) for choice in shape["enum"][:20])
        yield Issue(path, "enum", f"Write one of {choices}; this is {quote(value)}.{hint}")
    if isinstance(value, str):
        yield from _text(value, shape, path, hint)
    elif is_number(value):
        yield from _number(value, shape, path, hint)
    elif isinstance(value, list):
        yield from _list(value, shape, path, hint)
    elif isinstance(value, dict):
        yield from _object(value, shape, path, hint)
    yield from _check_composition(value, shape, path, hint)


def _equal(left: Any, right: Any) -> bool:
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _text(value: str, shape: Shape, path: str, hint: str) -> Iterator[Issue]:
    if len(value) < shape.get("minLength", 0):
        if value:
            yield Issue(
                path,
                "too_short",
                f"Write at least {shape['minLength']} characters; this has {len(value)}.{hint}",
            )
        else:
            yield Issue(path, "too_short", f"This is empty; write a text.{hint}")
    if len(value) > shape.get("maxLength", len(value)):
        yield Issue(
            path, "too_long", f"Write at most {shape['maxLength']} characters; this has {len(value)}.{hint}"
        )
    if "pattern" in shape and not _fits(value, shape["pattern"], path):
        yield Issue(path, "pattern", f"{quote(value)} does not fit {shape['pattern']}.{hint}")


def _fits(value: str, pattern: str, path: str) -> bool:
    try:
        return compile_pattern(pattern).search(value)
    except BadPattern as error:
        raise _Unjudged(Issue(path, "pattern", f"{error} {START_AGAIN}"))


def _number(value: float, shape: Shape, path: str, hint: str) -> Iterator[Issue]:
    if value < shape.get("minimum", value):
        yield Issue(path, "too_small", f"Write {shape['minimum']} or more; this is {value}.{hint}")
    if value > shape.get("maximum", value):
        yield Issue(path, "too_big", f"Write {shape['maximum']} or less; this is {value}.{hint}")
    if "exclusiveMinimum" in shape and value <= shape["exclusiveMinimum"]:
        yield Issue(path, "too_small", f"Write more than {shape['exclusiveMinimum']}; this is {value}.{hint}")
    if "exclusiveMaximum" in shape and value >= shape["exclusiveMaximum"]:
        yield Issue(path, "too_big", f"Write less than {shape['exclusiveMaximum']}; this is {value}.{hint}")


def _list(value: list[Any], shape: Shape, path: str, hint: str) -> Iterator[Issue]:
    if len(value) < shape.get("minItems", 0):
        yield Issue(path, "too_few", f"List at least {shape['minItems']}; there are {len(value)}.{hint}")
    if len(value) > shape.get("maxItems", len(value)):
        yield Issue(path, "too_many", f"List at most {shape['maxItems']}; there are {len(value)}.{hint}")
    if shape.get("uniqueItems"):
        seen: set[str] = set()
        for n, item in enumerate(value):
            face = f"{type(item).__name__}:{_face(item)}"
            if face in seen:
                yield Issue(f"{path}[{n}]", "duplicate", f"{quote(item)} is listed twice; remove one.")
            seen.add(face)
    if "items" in shape:
        for n, item in enumerate(value):
            yield from _walk(item, shape["items"], f"{path}[{n}]")


def _face(item: Any) -> str:
    if isinstance(item, dict):
        return "{" + ",".join(f"{key!r}:{_face(item[key])}" for key in sorted(item)) + "}"
    if isinstance(item, list):
        return "[" + ",".join(map(_face, item)) + "]"
    return repr(item)


def _object(value: dict[str, Any], shape: Shape, path: str, hint: str) -> Iterator[Issue]:
    known = shape.get("properties", {})
    for name in shape.get("required", ()):
        if name not in value:
            more = known.get(name, {}).get("hint", "")
            yield Issue(f"{path}.{name}", "required", f'Add "{name}".{" " + more if more else ""}{hint}')
    if len(value) < shape.get("minProperties", 0):
        yield Issue(path, "too_few", f"Name at least {shape['minProperties']} entries.{hint}")
    if len(value) > shape.get("maxProperties", len(value)):
        yield Issue(path, "too_many", f"Name at most {shape['maxProperties']} entries.{hint}")
    others = shape.get("additionalProperties", True)
    for name, part in value.items():
        if name in known:
            yield from _walk(part, known[name], f"{path}.{name}")
        elif others is False:
            yield Issue(f"{path}.{name}", "unknown_field", _unknown_field(name, known))
        elif isinstance(others, dict):
            yield from _walk(part, others, f"{path}.{name}")


def _unknown_field(name: str, known: Shape) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    meant = f'; did you mean "{near[0]}"?' if near else ""
    fields = ", ".join(sorted(known)[:40])
    return f"There is no field {quote(name)} here{meant}. Use {fields}, or remove it."


def _check_composition(value: Any, shape: Shape, path: str, hint: str) -> Iterator[Issue]:
    for part in shape.get("allOf", ()):
        yield from _walk(value, part, path)
    for key in ("anyOf", "oneOf"):
        if key not in shape:
            continue
        attempts = [list(_walk(value, part, path)) for part in shape[key]]
        fitting = sum(not attempt for attempt in attempts)
        if fitting == 0:
            yield from min(attempts, key=len)
        elif key == "oneOf" and fitting > 1:
            yield Issue(path, "ambiguous", f"This fits {fitting} of the choices and may fit only one.{hint}")
    if "not" in shape and not list(_walk(value, shape["not"], path)):
        yield Issue(path, "not", f"This value is ruled out.{hint}")


def check_shape(shape: Any, path: str, level: int = 0) -> list[Issue]:
    """Return all issues of a schema as an author wrote it. `mismatches` relies on this check."""
    if not isinstance(shape, dict):
        return [Issue(path, "type", f"A schema is an object; this is {quote(shape)}.")]
    if level > MAX_CONDITION_DEPTH:
        return [Issue(path, "too_deep", f"Schemas nest at most {MAX_CONDITION_DEPTH} deep.")]
    issues = [
        Issue(f"{path}.{key}", "unknown_keyword", f"The schema keyword {quote(key)} is not supported; "
                                                  "write the schema with type, properties, required, items and enum.")
        for key in shape
        if key not in KEYWORDS
    ]  # fmt: skip
    issues += _check_words(shape, path)
    for key in ("properties",):
        if isinstance(shape.get(key), dict):
            for name, part in shape[key].items():
                issues += check_shape(part, f"{path}.{key}.{name}", level + 1)
    for key in ("items", "not", "additionalProperties"):
        if key in shape and not (key == "additionalProperties" and isinstance(shape[key], bool)):
            issues += check_shape(shape[key], f"{path}.{key}", level + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(shape.get(key), list):
            for n, part in enumerate(shape[key]):
                issues += check_shape(part, f"{path}.{key}[{n}]", level + 1)
    return issues


KEYWORD_SHAPES: Final[dict[str, Shape]] = {
    "properties": {"type": "object"},
    "required": {"type": "array", "items": {"type": "string"}},
    "enum": {"type": "array", "minItems": 1},
    "pattern": {"type": "string"},
    **{key: {"type": "array", "minItems": 1, "maxItems": 20} for key in ("anyOf", "oneOf", "allOf")},
    **{
        key: {"type": "integer", "minimum": 0}
        for key in ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
    },
    **{key: {"type": "number"} for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")},
}


def _check_words(shape: Shape, path: str) -> Iterator[Issue]:
    for key, wanted in KEYWORD_SHAPES.items():
        if key in shape:
            yield from _walk(shape[key], wanted, f"{path}.{key}")
    names = shape.get("type", [])
    for name in names if isinstance(names, list) else [names]:
        if not isinstance(name, str) or name not in TYPES:
            yield Issue(f"{path}.type", "enum", f"Write one of {', '.join(TYPES)}; this is {quote(name)}.")
    if isinstance(shape.get("pattern"), str):
        try:
            compile_pattern(shape["pattern"])
        except BadPattern as error:
            yield Issue(f"{path}.pattern", "pattern", str(error))
