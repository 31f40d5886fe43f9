"""From a JSON Schema in the settings to the arguments of an effect.

A keyword that is not enforced is refused: a reviewer relies on the limits that the schema states.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

import msgspec

from assent.extensions.money import Money
from assent.extensions.options import MAX_LABEL_CHARS
from assent.extensions.problems import BadExtension
from assent.extensions.signatures import MAX_NESTING, RESERVED, WIRE, Parameter, Signature, distinguish_labels
from assent.kernel.canonical import MAX_SAFE_INTEGER
from assent.kernel.limits import MAX_CONTENT_CHARS
from assent.kernel.patterns import BadPattern, compile_pattern
from assent.kernel.schemas import convert, publish_pattern

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}", re.ASCII)
"""A property that can be an argument of a tool."""

_NOTES: Final = frozenset({"title", "description", "examples", "default", "$comment"})
_LIMITS: Final[Mapping[str, Mapping[str, str]]] = {
    "string": {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"},
    "integer": {
        "minimum": "ge",
        "maximum": "le",
        "exclusiveMinimum": "gt",
        "exclusiveMaximum": "lt",
        "multipleOf": "multiple_of",
    },
    "number": {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"},
    "boolean": {},
    "array": {"minItems": "min_length", "maxItems": "max_length"},
    "object": {},
}
_OTHER: Final[Mapping[str, frozenset[str]]] = {
    "string": frozenset({"format", "enum", "const"}),
    "integer": frozenset({"enum", "const"}),
    "array": frozenset({"items"}),
    "object": frozenset({"properties", "required", "additionalProperties"}),
}
_FORMATS: Final[Mapping[str, Any]] = {
    "money": Money,
    "decimal": Decimal,
    "date": datetime.date,
    "date-time": datetime.datetime,
}
_PLAIN: Final[Mapping[str, Any]] = {"string": str, "integer": int, "number": float, "boolean": bool}


class _Types(msgspec.Struct, frozen=True):
    """The type of a value for functions, and on the wire."""

    kind: Any
    wire: Any


def read_schema(schema: Any, place: str) -> Signature:
    """Return the arguments that a schema declares. Raises `BadExtension` with the place of the
    mistake."""
    if not isinstance(schema, dict):
        raise BadExtension("it is no table.", place=place, fix='Write a JSON Schema with type = "object".')
    _refuse_unknown(schema, "object", place)
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
    required = _read_required(schema, place)
    parameters = tuple(
        _read_parameter(name, part, name in required, f"{place}.properties.{name}")
        for name, part in schema.get("properties", {}).items()
    )
    return Signature(place=place, parameters=distinguish_labels(parameters), context=None)


def allows_text(part: Mapping[str, Any], text: str) -> bool:
    """Whether a schema that this text satisfies permits it expressly: by a pattern that matches the
    whole of it, or as one of its choices."""
    if "enum" in part or "const" in part:
        return True
    return "pattern" in part and compile_pattern(part["pattern"]).matches_whole(text)


def _read_parameter(name: str, part: Any, required: bool, place: str) -> Parameter:
    if NAME.fullmatch(name) is None or name in RESERVED:
        raise BadExtension(
            f"{name[:60]!r} cannot be the name of an argument.",
            place=place,
            fix="Use letters, digits and _, beginning with a letter.",
        )
    found = _read_type(part, place, 1)
    label = part.get("title", _space(name))
    if not isinstance(label, str) or not label.isprintable() or not 0 < len(label) <= MAX_LABEL_CHARS:
        raise BadExtension(
            f"its title is no line of at most {MAX_LABEL_CHARS} characters.", place=place, fix="Shorten it."
        )
    optional = not required or "default" in part
    default = part.get("default")
    if optional and default is None:
        found = _Types(found.kind | None, found.wire | None)
    elif optional:
        try:
            convert(default, found.wire)
        except msgspec.ValidationError as error:
            raise BadExtension(
                f"its default does not fit ({error}).", place=place, fix="Correct the default or the schema."
            ) from None
    return Parameter(
        name=name,
        label=label,
        kind=found.kind,
        wire=found.wire,
        optional=optional,
        default=default,
        description=str(part.get("description", "")),
        is_text=part.get("type") == "string" and not {"format", "enum", "const"} & part.keys(),
    )


def _space(name: str) -> str:
    """`orderId` and `order_id` become `Order id`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").strip()
    return words[:1].upper() + words[1:].lower()


def _read_type(part: Any, place: str, depth: int) -> _Types:
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        raise BadExtension(
            "it has no type.", place=place, fix=f'Write type = "string", or one of {", ".join(_LIMITS)}.'
        )
    name = part["type"]
    if name not in _LIMITS:
        raise BadExtension(
            f"the type {name!r} is unknown.", place=place, fix=f"Write one of {', '.join(_LIMITS)}."
        )
    if depth > MAX_NESTING:
        raise BadExtension("it nests too deeply to be read.", place=place, fix="Use fewer levels.")
    _refuse_unknown(part, name, place)
    if "enum" in part or "const" in part:
        found = _read_choices(part, _PLAIN[name], place)
    elif name == "array":
        inner = _read_type(part.get("items"), f"{place}.items", depth + 1)
        found = _Types(list[inner.kind], list[inner.wire])  # type: ignore[name-defined]
    elif name == "object":
        found = _read_object(part, place, depth)
    elif "format" in part:
        if part["format"] not in list(_FORMATS):
            raise BadExtension(
                f"the format {part['format']!r} is not checked here.",
                place=f"{place}.format",
                fix=f"Write one of {', '.join(_FORMATS)}, or a pattern.",
            )
        kind = _FORMATS[part["format"]]
        found = _Types(kind, WIRE[kind])
    else:
        found = _Types(_PLAIN[name], WIRE[_PLAIN[name]])
    return _limit(found, part, name, place)


def _limit(found: _Types, part: Mapping[str, Any], name: str, place: str) -> _Types:
    """Add the limits and the description of a schema to the type on the wire."""
    limits = {_LIMITS[name][key]: value for key, value in part.items() if key in _LIMITS[name]}
    pattern, wire = limits.pop("pattern", None), found.wire
    try:
        if limits:
            if name == "string" and "format" not in part:
                limits["max_length"] = min(limits.get("max_length", MAX_CONTENT_CHARS), MAX_CONTENT_CHARS)
                wire = Annotated[str, msgspec.Meta(**limits)]
            elif name == "integer":
                if not {"ge", "gt"} & limits.keys():
                    limits["ge"] = -MAX_SAFE_INTEGER
                if not {"le", "lt"} & limits.keys():
                    limits["le"] = MAX_SAFE_INTEGER
                wire = Annotated[int, msgspec.Meta(**limits)]
            else:
                wire = Annotated[wire, msgspec.Meta(**limits)]
        if pattern is not None:
            wire = Annotated[wire, publish_pattern(pattern)]
        if isinstance(part.get("description"), str):
            wire = Annotated[wire, msgspec.Meta(description=part["description"])]
        msgspec.json.schema(wire)
        msgspec.json.Decoder(wire)
    except BadPattern as error:
        raise BadExtension("its pattern cannot be used.", place=f"{place}.pattern", fix=str(error)) from None
    except (TypeError, ValueError) as error:
        raise BadExtension(
            f"its limits do not fit ({error}).", place=place, fix="Correct the numbers or the pattern."
        ) from None
    return _Types(found.kind, wire)


def _read_choices(part: Mapping[str, Any], plain: type, place: str) -> _Types:
    choices = part["enum"] if "enum" in part else [part["const"]]
    if not isinstance(choices, list) or not choices or any(type(each) is not plain for each in choices):
        raise BadExtension(
            "its choices do not have its type.", place=place, fix='Write such as enum = ["EUR", "USD"].'
        )
    kind = Literal[tuple(choices)]  # type: ignore[valid-type]
    return _Types(kind, kind)


def _read_object(part: Mapping[str, Any], place: str, depth: int) -> _Types:
    more = part.get("additionalProperties", False)
    if isinstance(more, dict) and not part.get("properties"):
        inner = _read_type(more, f"{place}.additionalProperties", depth + 1)
        return _Types(dict[str, inner.kind], dict[str, inner.wire])  # type: ignore[name-defined]
    properties = part.get("properties", {})
    if more is not False or not isinstance(properties, dict) or not properties:
        raise BadExtension(
            "it declares no properties.",
            place=place,
            fix="Write properties, or additionalProperties = { type = … } alone.",
        )
    required = _read_required(part, place)
    kinds, wires = [], []
    for name, each in properties.items():
        if NAME.fullmatch(name) is None:
            raise BadExtension(
                f"{name[:60]!r} cannot be the name of a property.",
                place=place,
                fix="Use letters, digits and _, beginning with a letter.",
            )
        found = _read_type(each, f"{place}.properties.{name}", depth + 1)
        kinds.append(_field(name, found.kind, name in required))
        wires.append(_field(name, found.wire, name in required))
    return _Types(_struct(kinds, place), _struct(wires, place))


def _field(name: str, kind: Any, required: bool) -> tuple[Any, ...]:
    return (name, kind) if required else (name, kind | msgspec.UnsetType, msgspec.UNSET)


def _struct(fields: list[tuple[Any, ...]], place: str) -> type[msgspec.Struct]:
    """Return a struct whose name is unique in the schema of the tool."""
    name = "".join(step.capitalize() for step in place.split(".") if step != "properties")
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)


def _read_required(schema: Mapping[str, Any], place: str) -> frozenset[str]:
    required = schema.get("required", [])
    known = schema.get("properties", {})
    if not isinstance(required, list) or not all(isinstance(each, str) for each in required):
        raise BadExtension("required is no list of names.", place=place, fix='Write required = ["customer"].')
    for each in required:
        if each not in known:
            raise BadExtension(
                f"it requires {each}, which is no property.", place=place, fix=f"Add {each} to properties."
            )
    return frozenset(required)


def _refuse_unknown(schema: Mapping[str, Any], name: str, place: str) -> None:
    known = {"type", *_NOTES, *_LIMITS[name], *_OTHER.get(name, frozenset())}
    for key in schema:
        if key not in known:
            raise BadExtension(
                f"the keyword {key} of the schema is not checked here.",
                place=place,
                fix=f"Leave it out. Known for {name}: {', '.join(sorted(known))}.",
            )
