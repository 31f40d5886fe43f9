"""JSON Schemas of structs as clients read them: one object, without `$ref` and null branches; values
of authors' types; and the codec's messages about values that do not fit, in words
that a caller can follow."""

from __future__ import annotations

import functools
import re
from typing import Any, Final

import msgspec
from msgspec import inspect

from assent.kernel.shapes import Shape, find_mismatches

_FLATTENED: Final[dict[tuple[type[Any], bool], dict[str, Any]]] = {}

_TYPES: Final = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
    "date": "a date such as 2027-01-31",
    "datetime": "a date and time such as 2027-01-31T09:00:00+01:00",
}
"""The codec's types in words."""
_VALUES: Final = ("const", "enum", "default", "examples")
"""Keywords with values, in which no name is a keyword."""
_MISMATCHES: Final = (
    (re.compile(r"Invalid RFC3339 encoded (date|datetime)"), lambda found: _TYPES[found[1]]),
    (
        re.compile(r"Expected `([a-z |]+)`, got `.*`"),
        lambda found: " or ".join(_TYPES.get(name, name) for name in found[1].split(" | ")),
    ),
    (re.compile(r"Object missing required field `(.*)`"), lambda found: f"a value for {found[1]}"),
    (re.compile(r"Object contains unknown field `(.*)`"), lambda found: f"no field {found[1]}"),
    (re.compile(r"Expected `str` of length <= (\d+)"), lambda found: f"at most {found[1]} characters"),
    (re.compile(r"Expected `str` of length >= (\d+)"), lambda found: f"at least {found[1]} characters"),
    (re.compile(r"Expected `\w+` (.*)", re.DOTALL), lambda found: found[1]),
)


def publish(shape: Shape) -> msgspec.Meta:
    """Return the note of an author's schema, which the codec leaves to `convert`: it would search a
    pattern by `re`, which backtracks."""
    return msgspec.Meta(extra_json_schema=shape)


def convert(value: Any, of: Any) -> Any:
    """Convert a JSON value to a type as the codec does, and check what its authors published of it.
    Raises `msgspec.ValidationError`."""
    made = msgspec.convert(value, of)
    if (shape := find_published(of)) is not None:
        for found in find_mismatches(value, shape):
            place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in found.steps)
            raise msgspec.ValidationError(f"{found.expected} - at `${place}`" if place else found.expected)
    return made


@functools.cache
def find_published(of: Any) -> Shape | None:
    """Return the schema of a type that has an author's in it; None if the codec checks all of it."""
    if not _is_published(inspect.type_info(of)):
        return None
    schema = msgspec.json.schema(of)
    found: Shape = _inline(schema, schema.pop("$defs", {}), None)
    return found


def _is_published(kind: inspect.Type) -> bool:
    match kind:
        case inspect.Metadata():
            return bool(kind.extra_json_schema) or _is_published(kind.type)
        case inspect.UnionType():
            return any(map(_is_published, kind.types))
        case inspect.ListType():
            return _is_published(kind.item_type)
        case inspect.DictType():
            return _is_published(kind.value_type)
        case inspect.StructType():
            return any(_is_published(field.type) for field in kind.fields)
    return False


def explain_mismatch(message: str) -> tuple[str, str]:
    """Return the place inside the value, such as `0.sku`, and what the codec expected there."""
    said, _, place = message.rpartition(" - at `$")
    said, place = (said, place.rstrip("`")) if said else (message, "")
    place = ".".join(re.findall(r"[^.\[\]]+", place))
    for pattern, explain in _MISMATCHES:
        if (found := pattern.fullmatch(said)) is not None:
            return place, explain(found)
    return place, said


def flatten(of: type[Any], *, keep_null: bool) -> dict[str, Any]:
    """Return a struct's JSON Schema without `$ref` and null branches; cached."""
    if (made := _FLATTENED.get((of, keep_null))) is not None:
        return made
    schema = msgspec.json.schema(of)
    definitions = schema.pop("$defs", {})
    inlined = _inline(schema, definitions, keep_null)
    if not isinstance(inlined, dict):
        raise TypeError(f"{of!r} has no object schema")
    _FLATTENED[(of, keep_null)] = inlined
    return inlined


def _inline(node: Any, definitions: dict[str, Any], keep_null: bool | None) -> Any:
    """Return a schema without `$ref`. Null branches go unless `keep_null` is None."""
    if isinstance(node, list):
        return [_inline(item, definitions, keep_null) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        # A struct's docstring is for readers of the source, not for callers.
        target = {k: v for k, v in definitions[node["$ref"].rpartition("/")[2]].items() if k != "description"}
        return _inline({**target, **{k: v for k, v in node.items() if k != "$ref"}}, definitions, keep_null)
    if keep_null is not None and "anyOf" in node and {"type": "null"} in node["anyOf"]:
        branches = [branch for branch in node["anyOf"] if branch != {"type": "null"}]
        rest = {key: value for key, value in node.items() if key not in ("anyOf", "default")}
        if keep_null:
            # A nullable field is published without a type: a null branch breaks strict clients.
            return {key: value for key, value in rest.items() if key == "description"}
        return _inline(
            {**rest, **branches[0]} if len(branches) == 1 else {**rest, "anyOf": branches},
            definitions,
            keep_null,
        )
    return {
        key: _inline_properties(node, definitions, keep_null)
        if key == "properties"
        else value
        if key in _VALUES
        else _inline(value, definitions, keep_null)
        for key, value in node.items()
        if key != "title" and not (key == "default" and value is None)
    }


def _inline_properties(node: Any, definitions: dict[str, Any], keep_null: bool | None) -> dict[str, Any]:
    """Return the properties of an object. One that is required and may be null says so, because it cannot be left
    out instead."""
    made = {name: _inline(part, definitions, keep_null) for name, part in node["properties"].items()}
    if keep_null is False:
        for name in node.get("required", ()):
            if {"type": "null"} in node["properties"][name].get("anyOf", ()):
                made[name] = _allow_null(made[name])
    return made


def _allow_null(node: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that null also fits, as a list of types: strict clients refuse a branch for it."""
    if "anyOf" in node:
        return {**node, "anyOf": [*node["anyOf"], {"type": "null"}]}
    enum = {"enum": [*node["enum"], None]} if "enum" in node else {}
    return {**node, **({"type": [node["type"], "null"]} if "type" in node else {}), **enum}
