"""Reads the arguments of a call into the tool's request, or explains every problem with them (C16).

The codec stops at the first mistake. The schema of the request then finds the others, so that an
agent can correct its call in one attempt.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, Final

import msgspec

from assent.kernel.canonical import depth
from assent.kernel.limits import MAX_JSON_DEPTH, MAX_PROBLEMS
from assent.kernel.patterns import compile_pattern
from assent.kernel.refusals import Problem, Reason, Refusal
from assent.kernel.schemas import convert, explain_mismatch, flatten
from assent.tools.definition import Tool


class BadArguments(Exception):  # noqa: N818 - carries the refusal
    """The arguments break the published schema."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class TooDeep:
    """Replaces arguments that nest too deeply, so that no later code walks them (W49)."""

    paths: tuple[str, ...]


def check_depth(arguments: Any) -> Any:
    """Return the arguments, or `TooDeep` in their place."""
    if depth(arguments) <= MAX_JSON_DEPTH:
        return arguments
    if not isinstance(arguments, dict):
        return TooDeep(("arguments",))
    deep = [name for name, value in arguments.items() if depth(value) > MAX_JSON_DEPTH]
    return TooDeep(tuple(deep[:MAX_PROBLEMS])) if deep else arguments


def decode(tool: Tool, arguments: Any) -> Any:
    """Return the request struct. Raises `BadArguments` for the schema, `Refusal` for a value."""
    if isinstance(arguments, TooDeep):
        deep = [
            Problem(path, f"at most {MAX_JSON_DEPTH} levels of nesting", "more") for path in arguments.paths
        ]
        raise Refusal(Reason.VALIDATION_ERROR, problems=deep)
    arguments = _unfold(tool, arguments)
    try:
        given = {} if arguments is None else arguments
        # Only an operator's own tool has patterns that the codec does not check.
        request = (convert if tool.owned else msgspec.convert)(given, tool.request)
    except msgspec.ValidationError as error:
        raise BadArguments(
            Refusal(Reason.VALIDATION_ERROR, problems=problems_with(tool, arguments, str(error)))
        ) from error
    # PostgreSQL keeps no NUL in any text, and both stores take the same values.
    if _holds_nul(arguments):
        nul = islice(_nul_paths(arguments, ""), MAX_PROBLEMS)
        problems = [Problem(path, "text without NUL characters", "a NUL character") for path in nul]
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems)
    return request


_OPEN: Final[dict[type[Any], tuple[str, ...]]] = {}
"""The open arguments of each request type, once a call has used it."""


def _unfold(tool: Tool, arguments: Any) -> Any:
    """Decode the open objects among the arguments that arrived as JSON text."""
    if not isinstance(arguments, dict):
        return arguments
    if (names := _OPEN.get(tool.request)) is None:
        from assent.tools.catalog import open_arguments

        names = _OPEN[tool.request] = open_arguments(tool.request)
    given = [name for name in names if isinstance(arguments.get(name), str)]
    return {**arguments, **{name: _object_in(arguments[name]) for name in given}} if given else arguments


def _object_in(text: str) -> Any:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return found if isinstance(found, dict) and depth(found) <= MAX_JSON_DEPTH else text


def _holds_nul(value: Any) -> bool:
    """Whether any text holds a NUL; `_nul_paths`, which is slower, then finds where."""
    row = [value]
    while row:
        below: list[Any] = []
        for node in row:
            if isinstance(node, str):
                if "\0" in node:
                    return True
            elif isinstance(node, dict):
                below.extend(node)
                below.extend(node.values())
            elif isinstance(node, list):
                below.extend(node)
        row = below
    return False


def _nul_paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, str) and "\0" in value:
        yield path
    elif isinstance(value, (dict, list)):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _nul_paths(part, _join(path, str(name)))
            if isinstance(name, str) and "\0" in name:
                yield _join(path, name.replace("\0", "\\u0000"))


def problems_with(tool: Tool, arguments: Any, first_message: str) -> list[Problem]:
    """Return the problems that the schema finds; if it finds none, the message of the decoder."""
    # Not the published one, which leaves open objects to the codec.
    validator = _make_validator_class()(flatten(tool.request, keep_null=False))
    # A hostile megabyte has a hundred thousand mistakes: only as many are read as are reported.
    errors = islice(validator.iter_errors(_without_nulls(arguments)), MAX_PROBLEMS)
    found = [
        problem
        for error in sorted(errors, key=lambda e: list(map(str, e.path)))
        for problem in _explain(error)
    ]
    if not found:
        place, expected = explain_mismatch(first_message)
        found = [Problem(place or "arguments", expected, _find(arguments, place))]
    return found[:MAX_PROBLEMS]


@cache
def _make_validator_class() -> Any:
    import jsonschema  # only on this path: it costs more to import than all the rest of a call

    def check_pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[Any]:
        if isinstance(value, str) and not compile_pattern(pattern).search(value):
            yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")

    extend: Any = jsonschema.validators.extend
    return extend(jsonschema.Draft202012Validator, {"pattern": check_pattern})


def _find(arguments: Any, place: str) -> str:
    """Return the value at a place in words."""
    value = arguments
    for step in place.split("."):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return "this value"
    return _excerpt(value)


def _explain(error: Any) -> list[Problem]:
    path = ".".join(str(part) for part in error.absolute_path)
    got = _excerpt(error.instance)
    if error.validator == "required":
        missing = error.message.split("'")[1]
        return [Problem(_join(path, missing), "a value: this argument is required", "nothing")]
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        expected = "one of " + ", ".join(known) if known else "no arguments"
        return [
            Problem(_join(path, extra), expected + _suggest(extra, known), "an unknown argument")
            for extra in sorted(error.instance.keys() - known.keys())[:MAX_PROBLEMS]
        ]
    return [Problem(path or "arguments", _expectation(error), got)]


_EXPECTED: Final = {
    "type": "{}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxItems": "at most {} entries",
    "minItems": "at least {} entries",
    "pattern": "text that matches {}",
}


def _expectation(error: Any) -> str:
    rule, value = error.validator, error.validator_value
    if rule == "enum":
        return "one of " + ", ".join(map(str, value))
    if rule == "pattern" and (described := error.schema.get("description")):
        return f"text that matches {value} ({described})"
    return _EXPECTED[rule].format(value) if rule in _EXPECTED else f"{rule} {value}"[:200]


def _suggest(extra: str, known: dict[str, Any]) -> str:
    close = difflib.get_close_matches(extra, known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _excerpt(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else text[:77] + "…"


def _without_nulls(arguments: Any) -> Any:
    if isinstance(arguments, dict):
        return {key: _without_nulls(value) for key, value in arguments.items() if value is not None}
    if isinstance(arguments, list):
        return [_without_nulls(item) for item in arguments]
    return {} if arguments is None else arguments
