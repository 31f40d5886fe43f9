"""Reads the arguments of a call into the tool's request, or explains every problem with them (C16).

The codec stops at the first mistake. The schema of the request then finds the others, so that an
agent can correct its call in one attempt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import msgspec

from assent.kernel.canonical import depth
from assent.kernel.limits import MAX_JSON_DEPTH, MAX_PROBLEMS
from assent.kernel.refusals import Problem, Reason, Refusal
from assent.kernel.schemas import convert, explain_mismatch, flatten
from assent.kernel.shapes import Mismatch, Shape, find_mismatches
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
    shape = flatten(tool.request, keep_null=False)
    # A hostile megabyte has a hundred thousand mistakes: only as many are read as are reported.
    found = list(islice(find_mismatches(_without_nulls(arguments, shape), shape), MAX_PROBLEMS))
    known = [each for each in found if each.code != "too_large"]  # then the codec knows more
    if known:
        return [_explain(each) for each in sorted(known, key=lambda each: list(map(str, each.steps)))]
    place, expected = explain_mismatch(first_message)
    return [Problem(place or "arguments", expected, _find(arguments, place))]


_GOT: Final = {"required": "nothing", "unknown_field": "an unknown argument"}
"""What was found there, where it is no value."""


def _explain(found: Mismatch) -> Problem:
    path = ".".join(map(str, found.steps)) or "arguments"
    return Problem(path, found.expected or "no arguments", _GOT.get(found.code) or _excerpt(found.value))


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


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _excerpt(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else text[:77] + "…"


def _without_nulls(arguments: Any, shape: Shape | None = None) -> Any:
    """Leave out what is null, as the codec does, except for a required argument that may be null."""
    if isinstance(arguments, dict):
        parts = (shape or {}).get("properties", {})
        kept = {name for name in (shape or {}).get("required", ()) if _allows_null(parts.get(name))}
        return {
            key: _without_nulls(value) if value is not None else None
            for key, value in arguments.items()
            if value is not None or key in kept
        }
    if isinstance(arguments, list):
        return [_without_nulls(item) for item in arguments]
    return {} if arguments is None else arguments


def _allows_null(shape: Any) -> bool:
    return isinstance(shape, dict) and next(iter(find_mismatches(None, shape)), None) is None
