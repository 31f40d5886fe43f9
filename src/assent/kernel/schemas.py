"""JSON Schemas of structs as clients read them: one object, without `$ref` and null branches; values
of authors' types with their patterns; and the codec's messages about values that do not fit, in words
that a caller can follow."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
from msgspec import inspect

from assent.kernel.patterns import compile_pattern

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


_Steps = tuple[str | None, ...]
"""The way to a value: names of fields; None for every element of a list or an object."""


def publish_pattern(pattern: str) -> msgspec.Meta:
    """Return the note of a pattern that is in the schema only, where `convert` finds it: the codec would
    search it by `re`, which backtracks. Raises `BadPattern`."""
    compile_pattern(pattern)
    return msgspec.Meta(extra_json_schema={"pattern": pattern})


def convert(value: Any, of: Any, dec_hook: Callable[[type, Any], Any] | None = None) -> Any:
    """Convert a JSON value to an author's type as the codec does, and search its published patterns.
    Raises `msgspec.ValidationError`."""
    made = msgspec.convert(value, of, dec_hook=dec_hook)
    for steps, pattern in _list_patterns(of):
        for place, text in _follow(value, steps, ""):
            if not compile_pattern(pattern).search(text):
                at = f" - at `${place}`" if place else ""
                raise msgspec.ValidationError(f"Expected `str` matching regex {pattern!r}{at}")
    return made


@functools.cache
def _list_patterns(of: Any) -> tuple[tuple[_Steps, str], ...]:
    return tuple(_find_patterns(inspect.type_info(of), ()))


def _find_patterns(kind: inspect.Type, steps: _Steps) -> Iterator[tuple[_Steps, str]]:
    match kind:
        case inspect.Metadata():
            published = kind.extra_json_schema or {}
            if "pattern" in published:
                yield steps, published["pattern"]
            yield from _find_patterns(kind.type, steps)
        case inspect.UnionType():
            for each in kind.types:
                yield from _find_patterns(each, steps)
        case inspect.ListType():
            yield from _find_patterns(kind.item_type, (*steps, None))
        case inspect.DictType():
            yield from _find_patterns(kind.value_type, (*steps, None))
        case inspect.StructType():
            for field in kind.fields:
                yield from _find_patterns(field.type, (*steps, field.encode_name))


def _follow(value: Any, steps: _Steps, place: str) -> Iterator[tuple[str, str]]:
    """Yield the texts at the end of the way, each with its place."""
    if not steps:
        if isinstance(value, str):
            yield place, value
    elif isinstance(value, dict):
        for name in value if steps[0] is None else {steps[0]} & value.keys():
            yield from _follow(value[name], steps[1:], f"{place}.{name}")
    elif isinstance(value, list):
        for n, each in enumerate(value):
            yield from _follow(each, steps[1:], f"{place}[{n}]")


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


def _inline(node: Any, definitions: dict[str, Any], keep_null: bool) -> Any:
    if isinstance(node, list):
        return [_inline(item, definitions, keep_null) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        # A struct's docstring is for readers of the source, not for callers.
        target = {k: v for k, v in definitions[node["$ref"].rpartition("/")[2]].items() if k != "description"}
        return _inline({**target, **{k: v for k, v in node.items() if k != "$ref"}}, definitions, keep_null)
    if "anyOf" in node and {"type": "null"} in node["anyOf"]:
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
        key: {name: _inline(part, definitions, keep_null) for name, part in value.items()}
        if key == "properties"
        else _inline(value, definitions, keep_null)
        for key, value in node.items()
        if key != "title" and not (key == "default" and value is None)
    }
