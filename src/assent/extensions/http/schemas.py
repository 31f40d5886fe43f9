"""From a JSON Schema in the settings to the arguments of an effect.

The schema is published and checked as it is written, with the limits that every argument has. A keyword
that is not enforced is refused: a reviewer relies on the limits that the schema states.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

from assent.extensions.money import DECIMAL_PATTERN, MONEY_PATTERN
from assent.extensions.options import MAX_LABEL_CHARS
from assent.extensions.problems import BadExtension
from assent.extensions.signatures import MAX_NESTING, RESERVED, Parameter, Signature, distinguish_labels
from assent.kernel.canonical import MAX_SAFE_INTEGER
from assent.kernel.limits import MAX_CONTENT_CHARS
from assent.kernel.patterns import compile_pattern
from assent.kernel.schemas import convert, publish
from assent.kernel.shapes import FORMATS, TYPES, Shape, check_shape, has_type, list_inner

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}", re.ASCII)
"""A property that can be an argument of a tool."""

_LIMITS: Final[Mapping[str, frozenset[str]]] = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
    "array": frozenset({"items", "minItems", "maxItems", "uniqueItems"}),
    "object": frozenset(
        {
            "properties",
            "patternProperties",
            "additionalProperties",
            "required",
            "minProperties",
            "maxProperties",
        }
    ),
}
"""Keywords that are about values of one type."""
_PATTERNS: Final = {"money": MONEY_PATTERN, "decimal": DECIMAL_PATTERN}
"""Formats that no client knows."""


def read_schema(schema: Any, place: str) -> Signature:
    """Return the arguments that a schema declares. Raises `BadExtension` with the place of the
    mistake."""
    if not isinstance(schema, dict):
        raise BadExtension("it is no table.", place=place, fix='Write a JSON Schema with type = "object".')
    if schema.get("type") != "object" or not isinstance(schema.get("properties", {}), dict):
        raise BadExtension(
            "it does not describe an object.",
            place=place,
            fix='Write type = "object" and properties = { NAME = { type = "string" } }.',
        )
    if schema.get("additionalProperties", False) is not False:
        raise BadExtension(
            "additionalProperties is not false, so that no one could see what is approved.",
            place=place,
            fix="Leave it out, and write each argument into properties.",
        )
    for bad in check_shape(schema, place):
        raise BadExtension("the schema cannot be used.", place=bad.path, fix=bad.message)
    if unread := sorted(schema.keys() & (_LIMITS["object"] | {"anyOf", "oneOf", "allOf", "not"}) - _READ):
        raise BadExtension(
            f"the keyword {unread[0]} is not checked here.", place=place, fix="Write it into the properties."
        )
    _refuse_unchecked(schema, place)
    required = _read_required(schema, place)
    parameters = tuple(
        _read_parameter(name, part, name in required, f"{place}.properties.{name}")
        for name, part in schema.get("properties", {}).items()
    )
    return Signature(place=place, parameters=distinguish_labels(parameters), context=None)


_READ: Final = frozenset({"properties", "required", "additionalProperties"})
"""What the arguments as a whole may have: they are checked one by one."""


def allows_text(part: Mapping[str, Any], text: str) -> bool:
    """Whether a schema that this text satisfies permits it expressly: by a pattern that matches the
    whole of it, or as one of its choices."""
    if "enum" in part or "const" in part:
        return True
    return "pattern" in part and compile_pattern(part["pattern"]).matches_whole(text)


def _refuse_unchecked(part: Shape, place: str) -> None:
    """Refuse what the validator would ignore, in a schema and all schemas inside it."""
    if "format" in part and part["format"] not in FORMATS:
        raise BadExtension(
            f"the format {part['format']!r} is not checked here.",
            place=f"{place}.format",
            fix=f"Write one of {', '.join(FORMATS)}, or a pattern.",
        )
    if isinstance(kind := part.get("type"), str):
        own = _LIMITS.get("number" if kind == "integer" else kind, frozenset())
        if others := sorted(part.keys() & frozenset().union(*_LIMITS.values()) - own):
            raise BadExtension(
                f"the keyword {others[0]} says nothing about a value of the type {kind}.",
                place=place,
                fix="Leave it out.",
            )
        choices = part.get("enum", [part["const"]] if "const" in part else [])
        if not all(has_type(each, kind) for each in choices):
            raise BadExtension(
                "its choices do not have its type.", place=place, fix='Write such as enum = ["EUR", "USD"].'
            )
    for at, inner in list_inner(part):
        _refuse_unchecked(inner, f"{place}.{at}")


def _read_parameter(name: str, part: Shape, required: bool, place: str) -> Parameter:
    if NAME.fullmatch(name) is None or name in RESERVED:
        raise BadExtension(
            f"{name[:60]!r} cannot be the name of an argument.",
            place=place,
            fix="Use letters, digits and _, beginning with a letter.",
        )
    closed = _close(part, place, 1)
    label = part.get("title", _space(name))
    if not label.isprintable() or not 0 < len(label) <= MAX_LABEL_CHARS:
        raise BadExtension(
            f"its title is no line of at most {MAX_LABEL_CHARS} characters.", place=place, fix="Shorten it."
        )
    optional = not required or "default" in part
    default = part.get("default")
    if optional and default is None:
        closed = {"anyOf": [closed, {"type": "null"}]}
    wire = Annotated[Any, publish(closed)]
    if optional and default is not None:
        try:
            convert(default, wire)
        except msgspec.ValidationError as error:
            raise BadExtension(
                f"its default does not fit (expected {error}).",
                place=place,
                fix="Correct the default or the schema.",
            ) from None
    return Parameter(
        name=name,
        label=label,
        kind=Any,
        wire=wire,
        optional=optional,
        default=default,
        description=part.get("description", ""),
        is_text=part["type"] == "string" and not {"format", "enum", "const"} & part.keys(),
    )


def _space(name: str) -> str:
    """`orderId` and `order_id` become `Order id`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").strip()
    return words[:1].upper() + words[1:].lower()


def _close(part: Shape, place: str, level: int) -> Shape:
    """Return a schema with the limits that all values have, so that it names whatever is sent."""
    if not isinstance(kind := part.get("type"), str):
        raise BadExtension(
            "it has no type.", place=place, fix=f'Write type = "string", or one of {", ".join(TYPES)}.'
        )
    if level > MAX_NESTING:
        raise BadExtension("it nests too deeply to be read.", place=place, fix="Use fewer levels.")
    match kind:
        case "string":
            longest = min(part.get("maxLength", MAX_CONTENT_CHARS), MAX_CONTENT_CHARS)
            return {**_describe(part), "maxLength": longest}
        case "integer":
            lowest = {} if "exclusiveMinimum" in part else {"minimum": -MAX_SAFE_INTEGER}
            highest = {} if "exclusiveMaximum" in part else {"maximum": MAX_SAFE_INTEGER}
            return {**lowest, **highest, **part}
        case "array":
            return {**part, "items": _close(part.get("items", {}), f"{place}.items", level + 1)}
        case "object":
            return _close_object(part, place, level)
    return part


def _describe(part: Shape) -> Shape:
    """Return the schema of a text with its format as a pattern, which clients know."""
    if part.get("format") not in _PATTERNS:
        return part
    words = FORMATS[part["format"]][0]
    described = f"{words[0].upper()}{words[1:]}."
    return {"description": described, "pattern": _PATTERNS[part["format"]], **part}


def _close_object(part: Shape, place: str, level: int) -> Shape:
    more = part.get("additionalProperties", False)
    if more is True or not (more or part.get("properties") or part.get("patternProperties")):
        raise BadExtension(
            "it declares no properties.",
            place=place,
            fix="Write properties, or additionalProperties = { type = … } alone.",
        )
    _read_required(part, place)
    for name in part.get("properties", {}):
        if NAME.fullmatch(name) is None:
            raise BadExtension(
                f"{name[:60]!r} cannot be the name of a property.",
                place=place,
                fix="Use letters, digits and _, beginning with a letter.",
            )
    closed: Shape = {
        key: {name: _close(each, f"{place}.{key}.{name}", level + 1) for name, each in part[key].items()}
        for key in ("properties", "patternProperties")
        if key in part
    }
    others = more and _close(more, f"{place}.additionalProperties", level + 1)
    return {**part, **closed, "additionalProperties": others}


def _read_required(schema: Shape, place: str) -> frozenset[str]:
    required = schema.get("required", [])
    for each in required:
        if each not in schema.get("properties", {}):
            raise BadExtension(
                f"it requires {each}, which is no property.", place=place, fix=f"Add {each} to properties."
            )
    return frozenset(required)
