"""Authors' JSON Schemas: which are taken, and where a value does not fit one.

The arguments of HTTP effects and functions, the outputs of steps and the files of workflows have one
validator: jsonschema with a class of ours. Its patterns are searched by RE2, it follows no `$ref`, and
the work of one check is bounded, whatever the schema and the value. It knows no words for people: a
caller writes its sentence from what was expected.
"""

from __future__ import annotations

import datetime
import difflib
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import msgspec

from assent.kernel.canonical import depth
from assent.kernel.limits import (
    MAX_CONDITION_DEPTH,
    MAX_REGEX_CHARS,
    MAX_SHAPE_PARTS,
    MAX_SHAPE_PATTERNS,
    MAX_SHAPE_WORK,
    MAX_WRAPPED_DEPTH,
)
from assent.kernel.patterns import BadPattern, compile_pattern
from assent.kernel.structs import Record
from assent.kernel.texts import quote

Shape = dict[str, Any]

TYPES: Final = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}
"""The types of values, in words."""

_ANY: Final[Shape] = {}
_TEXT: Final[Shape] = {"type": "string"}
_COUNT: Final[Shape] = {"type": "integer", "minimum": 0}
_NUMBER: Final[Shape] = {"type": "number"}
_OBJECT: Final[Shape] = {"type": "object"}
_CHOICES: Final[Shape] = {"type": "array", "minItems": 1, "maxItems": 20}
KEYWORDS: Final[dict[str, Shape]] = {
    "type": _ANY,
    "properties": _OBJECT,
    "patternProperties": _OBJECT,
    "required": {"type": "array", "items": _TEXT},
    "additionalProperties": _ANY,
    "items": _ANY,
    "enum": {"type": "array", "minItems": 1},
    "const": _ANY,
    "pattern": _TEXT,
    "format": _TEXT,
    "uniqueItems": {"type": "boolean"},
    "multipleOf": {"type": "number", "exclusiveMinimum": 0},
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _COUNT),
    **dict.fromkeys(("minProperties", "maxProperties"), _COUNT),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    **dict.fromkeys(("anyOf", "oneOf", "allOf"), _CHOICES),
    "not": _ANY,
    **dict.fromkeys(("hint", "title", "description", "$schema", "$id", "$comment"), _TEXT),
    **dict.fromkeys(("default", "example"), _ANY),
    "examples": {"type": "array"},
}
"""Each keyword with the shape of what it takes."""
_INNER: Final = ("items", "not", "additionalProperties")
_NAMED: Final = ("properties", "patternProperties")
_LISTED: Final = ("anyOf", "oneOf", "allOf")

_CODES: Final = {
    "minLength": "too_short",
    "maxLength": "too_long",
    "minItems": "too_few",
    "maxItems": "too_many",
    "minProperties": "too_few",
    "maxProperties": "too_many",
    "minimum": "too_small",
    "exclusiveMinimum": "too_small",
    "maximum": "too_big",
    "exclusiveMaximum": "too_big",
    "additionalProperties": "unknown_field",
    "uniqueItems": "duplicate",
    "oneOf": "ambiguous",
}
"""The code of a mismatch, where it is not the keyword."""
_EXPECTED: Final = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "minProperties": "at least {} entries",
    "maxProperties": "at most {} entries",
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "required": "a value: it is required",
    "uniqueItems": "each entry once",
    "oneOf": "what fits only one of the choices",
    "not": "a value that is not ruled out",
}
_UNIT_BYTES: Final = 128
"""How much text costs as much as one keyword, about 2 µs."""
_UNIT_STATES: Final = 400
"""As much of a search: states of the pattern, times characters of the text."""
_COMPILE_UNITS: Final = 200
"""What it costs to compile a pattern."""
_ERROR_UNITS: Final = 5
_DESCENT_UNITS: Final = 2
"""What it costs to pass on a part of a value."""
_KEYWORD_UNITS: Final = {"multipleOf": 4}
"""Keywords that cost more than one: a multiple of a large number is found by exact fractions."""

MAX_DIGITS: Final = 18
"""Digits of a decimal before the point: enough for every sum of money in every currency."""
MAX_PLACES: Final = 9
DECIMAL: Final = rf"-?(?:0|[1-9][0-9]{{0,{MAX_DIGITS - 1}}})(?:\.[0-9]{{1,{MAX_PLACES}}})?"


def _is_moment(kind: type[datetime.date]) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            msgspec.convert(text, kind)
        except msgspec.ValidationError:
            return False
        return True

    return fits


def _is_pattern(text: str) -> bool:
    try:
        compile_pattern(text)
    except BadPattern:
        return False
    return True


FORMATS: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "date": ("a date such as 2027-01-31", _is_moment(datetime.date)),
    "date-time": (
        "a date and time such as 2027-01-31T09:00:00+01:00",
        _is_moment(datetime.datetime),
    ),
    "decimal": ("a decimal number such as 12.50", re.compile(DECIMAL).fullmatch),
    "money": (
        "an amount with its currency, such as 12.50 EUR",
        re.compile(f"{DECIMAL} [A-Z]{{3}}").fullmatch,
    ),
    "regex": ("a regular expression that RE2 reads", _is_pattern),
}
"""The formats that are checked; another one is a note."""


class BadShape(Record):
    """A mistake in a schema: its path, a stable code, and what to write instead."""

    path: str
    code: str
    message: str


class Mismatch(Record):
    """Where a value does not fit: the names and numbers that lead there, a stable code, what was
    expected (nothing, if the object has no fields), what is there, and the author's hint."""

    steps: tuple[str | int, ...]
    code: str
    expected: str
    value: Any
    hint: str = ""


def check_shape(shape: Any, path: str) -> list[BadShape]:
    """Return the mistakes of a schema as its author wrote it."""
    parts, patterns, found = 0, 0, []
    waiting: list[tuple[Any, str, int]] = [(shape, path, 0)]
    while waiting:
        part, place, level = waiting.pop()
        if not isinstance(part, dict):
            found.append(BadShape(place, "type", f"A schema is an object; this is {quote(part)}."))
            continue
        if level > MAX_CONDITION_DEPTH:
            found.append(BadShape(place, "too_deep", f"Schemas nest at most {MAX_CONDITION_DEPTH} deep."))
            continue
        found += _check_keywords(part, place)
        parts += 1 + sum(len(value) for value in part.values() if isinstance(value, (dict, list)))
        patterns += len(_list_own_patterns(part))
        waiting += reversed([(inner, f"{place}.{at}", level + 1) for at, inner in list_inner(part)])
    if parts > MAX_SHAPE_PARTS:
        message = (
            f"The schema has {parts} parts; at most {MAX_SHAPE_PARTS} are taken. Leave the rest to a text."
        )
        found.append(BadShape(path, "too_many", message))
    if patterns > MAX_SHAPE_PATTERNS:
        message = f"The schema has {patterns} patterns; at most {MAX_SHAPE_PATTERNS} are taken. Join them."
        found.append(BadShape(path, "too_many", message))
    return found


def list_inner(shape: Shape) -> Iterator[tuple[str, Any]]:
    """Yield the schemas inside a schema, each with its place there."""
    for key in _NAMED:
        if isinstance(shape.get(key), dict):
            yield from ((f"{key}.{name}", part) for name, part in shape[key].items())
    for key in _INNER:
        if key in shape and not (key == "additionalProperties" and isinstance(shape[key], bool)):
            yield key, shape[key]
    for key in _LISTED:
        if isinstance(shape.get(key), list):
            yield from ((f"{key}[{n}]", part) for n, part in enumerate(shape[key]))


def _list_own_patterns(shape: Shape) -> list[tuple[str, Any]]:
    """Return the patterns of a schema without those inside it, each with its place."""
    named = shape.get("patternProperties")
    own = [("pattern", shape["pattern"])] if isinstance(shape.get("pattern"), str) else []
    return own + [(f"patternProperties.{each}", each) for each in (named if isinstance(named, dict) else ())]


def _check_keywords(shape: Shape, path: str) -> Iterator[BadShape]:
    for key, value in shape.items():
        if key == "$ref":
            yield BadShape(
                f"{path}.$ref", "unknown_keyword", "References are not followed; write the schema here."
            )
        elif key not in KEYWORDS:
            message = (
                f"The schema keyword {quote(key)} is not supported; "
                "write the schema with type, properties, required, items and enum."
            )
            yield BadShape(f"{path}.{key}", "unknown_keyword", message)
        elif not _takes(KEYWORDS[key], value):
            yield BadShape(
                f"{path}.{key}", "type", f"Write {_describe(KEYWORDS[key])}; this is {quote(value)}."
            )
    names = shape.get("type", [])
    for name in names if isinstance(names, list) else [names]:
        if not isinstance(name, str) or name not in TYPES:
            yield BadShape(f"{path}.type", "enum", f"Write one of {', '.join(TYPES)}; this is {quote(name)}.")
    for place, pattern in _list_own_patterns(shape):
        try:
            compile_pattern(pattern)
        except BadPattern as error:
            yield BadShape(f"{path}.{place}", "pattern", str(error))


def has_type(value: Any, name: str) -> bool:
    """Whether a value has a type of JSON Schema, in which 1.0 is a whole number and true is none."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    match name:
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "number":
            return is_number
        case "integer":
            return is_number and (isinstance(value, int) or value.is_integer())
        case "boolean":
            return isinstance(value, bool)
        case _:
            return value is None


def _has_one(value: Any, names: str | list[str]) -> bool:
    return any(has_type(value, name) for name in ([names] if isinstance(names, str) else names))


def _takes(wanted: Shape, value: Any) -> bool:
    """Whether a keyword takes a value. Loading a schema needs no jsonschema, which is slow to import."""
    if "type" not in wanted:
        return True
    return (
        has_type(value, wanted["type"])
        and not ("minimum" in wanted and value < wanted["minimum"])
        and not ("exclusiveMinimum" in wanted and value <= wanted["exclusiveMinimum"])
        and not ("minItems" in wanted and len(value) < wanted["minItems"])
        and not ("maxItems" in wanted and len(value) > wanted["maxItems"])
        and not ("items" in wanted and not all(_takes(wanted["items"], each) for each in value))
    )


def _describe(wanted: Shape) -> str:
    limits = [_EXPECTED[key].format(wanted[key]) for key in wanted if key in _EXPECTED]
    return ", ".join([TYPES[wanted["type"]], *limits]) + (" of texts" if "items" in wanted else "")


def find_mismatches(value: Any, shape: Shape) -> Iterator[Mismatch]:
    """Yield where a value does not fit a schema that `check_shape` takes; with the last one the check
    ends if it would take too long. Raises `BadPattern` for a schema that it would not take."""
    if depth(value) > MAX_WRAPPED_DEPTH:
        yield Mismatch((), "too_deep", f"at most {MAX_WRAPPED_DEPTH} levels of nesting", value)
        return
    validator = _make_validator_class()(shape, format_checker=_Work())
    try:
        for error in validator.iter_errors(value):
            yield from map(_read_error, _find_causes(error))
    except _TooMuchWork:
        yield Mismatch((), "too_large", "less: so much cannot be checked at once", value)


class _TooMuchWork(Exception):  # noqa: N818 - the check ends
    """The value and the schema together are too large."""


class _Work:
    """What a check may still cost. The validators of all parts share it: jsonschema hands it on as what
    checks formats."""

    def __init__(self) -> None:
        self._left = MAX_SHAPE_WORK

    def spend(self, units: int) -> None:
        self._left -= units
        if self._left < 0:
            raise _TooMuchWork


def _find_causes(error: Any) -> Iterator[Any]:
    """Yield the errors of the choice that the value nearly fits; for other errors, the error."""
    if not error.context:
        yield error
        return
    choices: dict[int, list[Any]] = {}
    for each in error.context:
        choices.setdefault(each.schema_path[0], []).append(each)
    for each in min(choices.values(), key=len):
        yield from _find_causes(each)


def _read_error(error: Any) -> Mismatch:
    keyword, wanted = error.validator, error.validator_value
    value, shape = error.instance, error.schema
    hints = [shape.get("hint", "")]
    if keyword == "type":
        expected = " or ".join(TYPES[name] for name in (wanted if isinstance(wanted, list) else [wanted]))
    elif keyword == "const":
        expected = quote(wanted)
    elif keyword == "enum":
        expected = "one of " + ", ".join(quote(each) for each in wanted[:20])
    elif keyword == "pattern":
        described = f" ({shape['description']})" if "description" in shape else ""
        expected = f"text that matches {wanted}{described}"
    elif keyword == "format":
        expected = FORMATS[wanted][0]
    elif keyword == "additionalProperties":
        expected = _suggest(error.path[-1], shape.get("properties", {}))
    else:
        if keyword == "required":
            hints.insert(0, shape.get("properties", {}).get(error.path[-1], {}).get("hint", ""))
        expected = _EXPECTED[keyword].format(wanted)
        if wanted == 1:
            expected = expected.replace("characters", "character").replace("entries", "entry")
    hint = " ".join(filter(None, hints))
    return Mismatch(tuple(error.absolute_path), _CODES.get(keyword, keyword), expected, value, hint)


def _suggest(name: str, known: Shape) -> str:
    if not known:
        return ""
    near = difflib.get_close_matches(name, known, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return f"one of {', '.join(list(known)[:40])}{meant}"


@cache
def _make_validator_class() -> Any:
    """Return our class. It is made late: jsonschema takes longer to import than all the rest of a call."""
    import attrs
    import jsonschema

    stock = jsonschema.Draft202012Validator
    own = {
        "pattern": _check_pattern,
        "patternProperties": _check_pattern_properties,
        "additionalProperties": _check_other_properties,
        "required": _check_required,
        "uniqueItems": _check_unique,
        "format": _check_format,
    }
    inherited = {key: check for key, check in stock.VALIDATORS.items() if key in KEYWORDS}
    made: Any = jsonschema.validators.create(
        meta_schema={},
        validators={key: _measure(key, check) for key, check in (inherited | own).items()},
        type_checker=stock.TYPE_CHECKER,
    )
    # That of jsonschema takes the class that a `$schema` inside names, which searches by `re`.
    made.evolve = attrs.evolve
    return made


def _measure(key: str, check: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    """Return the check of a keyword with its cost: itself, the parts that it passes on, what it lists, and
    the texts of its errors. It says nothing about a value of another type than the schema has."""

    def run(validator: Any, wanted: Any, value: Any, shape: Shape) -> Iterator[Any]:
        if key != "type" and "type" in shape and not _has_one(value, shape["type"]):
            return
        spend = validator.format_checker.spend
        passed = 0
        if key == "items" and isinstance(value, list):
            passed = len(value)
        elif key == "properties" and isinstance(value, dict):
            passed = min(len(wanted), len(value))
        listed = len(wanted) // 2 if isinstance(wanted, (list, dict)) else 0
        spend(_KEYWORD_UNITS.get(key, 1) + passed * _DESCENT_UNITS + listed)
        for error in check(validator, wanted, value, shape) or ():
            spend(_ERROR_UNITS + len(error.message) // _UNIT_BYTES)
            yield error

    return run


def _fail(message: str, *path: str | int, value: Any = None) -> Any:
    from jsonschema import ValidationError

    return ValidationError(message, path=path, instance=value) if path else ValidationError(message)


def _search(validator: Any, pattern: str, text: str) -> bool:
    compiled = compile_pattern(pattern)
    validator.format_checker.spend(1 + compiled.states * len(text) // _UNIT_STATES)
    return compiled.search(text)


def _check_pattern(validator: Any, pattern: str, value: Any, shape: Shape) -> Iterator[Any]:
    if isinstance(value, str) and not _search(validator, pattern, value):
        yield _fail("pattern")


def _check_pattern_properties(validator: Any, named: Shape, value: Any, shape: Shape) -> Iterator[Any]:
    for pattern, part in named.items() if isinstance(value, dict) else ():
        for name in value:
            if _search(validator, pattern, name):
                yield from validator.descend(value[name], part, path=name, schema_path=pattern)


def _check_other_properties(validator: Any, wanted: Any, value: Any, shape: Shape) -> Iterator[Any]:
    if wanted is True or not isinstance(value, dict):
        return
    known, patterns = shape.get("properties", {}), shape.get("patternProperties", {})
    for name, part in value.items():
        if name in known or any(_search(validator, pattern, name) for pattern in patterns):
            continue
        if wanted is False:
            yield _fail("unknown", name, value=part)
        else:
            validator.format_checker.spend(_DESCENT_UNITS)
            yield from validator.descend(part, wanted, path=name)


def _check_required(validator: Any, names: list[str], value: Any, shape: Shape) -> Iterator[Any]:
    for name in names if isinstance(value, dict) else ():
        if name not in value:
            yield _fail("missing", name)


def _check_unique(validator: Any, wanted: bool, value: Any, shape: Shape) -> Iterator[Any]:
    seen: set[str] = set()
    for n, item in enumerate(value if wanted and isinstance(value, list) else ()):
        face = _write_face(item)
        validator.format_checker.spend(len(face) // _UNIT_BYTES)
        if face in seen:
            yield _fail("duplicate", n, value=item)
        seen.add(face)


def _write_face(item: Any) -> str:
    """Write a value so that equal ones have equal texts."""
    if isinstance(item, dict):
        return "{" + ",".join(f"{key!r}:{_write_face(item[key])}" for key in sorted(item)) + "}"
    if isinstance(item, list):
        return "[" + ",".join(map(_write_face, item)) + "]"
    return repr(int(item) if isinstance(item, float) and item.is_integer() else item)


def _check_format(validator: Any, name: str, value: Any, shape: Shape) -> Iterator[Any]:
    if name not in FORMATS or not isinstance(value, str):
        return
    if name == "regex":
        validator.format_checker.spend(_COMPILE_UNITS)
    if not FORMATS[name][1](value[: MAX_REGEX_CHARS + 1]):
        yield _fail("format")
