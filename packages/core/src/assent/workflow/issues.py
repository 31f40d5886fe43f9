"""Issues of a definition or of submitted content: path, code, and advice."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from assent.kernel import shapes
from assent.kernel.patterns import BadPattern
from assent.kernel.shapes import Mismatch, Shape
from assent.kernel.structs import Record
from assent.kernel.texts import quote

MAX_PATH_CHARS: Final = 200
_MAX_LISTED: Final = 200
START_AGAIN: Final = (
    "This run is pinned to an older form of its file: correct the file and start the workflow again."
)
"""For a run whose program has what only older servers took."""


class Issue(Record, order=True):
    """`path` is a JSON path, `code` a stable word, `message` says what to write instead."""

    path: str
    code: str
    message: str


class Warning(Record, order=True):
    """A finding that does not stop the run. `path` names the field, loop or file."""

    code: str
    message: str
    path: str = ""


def shorten(issue: Issue) -> Issue:
    """Return the issue with a shortened path, because names may have any length."""
    return msgspec.structs.replace(issue, path=issue.path[:MAX_PATH_CHARS])


def mismatches(value: Any, shape: Shape, path: str) -> list[Issue]:
    """Return the issues of a value that does not match a schema; empty if it does."""
    try:
        found = list(islice(shapes.find_mismatches(value, shape), _MAX_LISTED))
    except BadPattern as error:
        return [Issue(path, "pattern", f"{error} {START_AGAIN}")]
    return [Issue(path + _write_steps(each), each.code, _advise(each)) for each in found]


def _write_steps(found: Mismatch) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in found.steps)


def _advise(found: Mismatch) -> str:
    """Say what to write instead."""
    match found.code:
        case "required":
            said = f'Add "{found.steps[-1]}".'
        case "unknown_field":
            instead = f", or write {found.expected}" if found.expected else ""
            said = f"There is no field {quote(found.steps[-1])} here. Remove it{instead}"
            said += "" if said.endswith("?") else "."
        case "too_short" | "too_long" | "too_few" | "too_many":
            said = f"Write {found.expected}; this has {len(found.value)}."
        case _:
            said = f"Write {found.expected}; this is {quote(found.value)}."
    return f"{said} {found.hint}" if found.hint else said


def check_shape(shape: Any, path: str) -> list[Issue]:
    """Return all issues of a schema as an author wrote it."""
    return [Issue(each.path, each.code, each.message) for each in shapes.check_shape(shape, path)]


def walk_values(document: Any) -> Iterator[tuple[str, Any]]:
    """Yield every value of a document with its path, in the author's order, at any depth."""
    stack = [("$", document)]
    while stack:
        path, value = stack.pop()
        yield path, value
        if isinstance(value, dict):
            stack += reversed([(f"{path}.{key}", part) for key, part in value.items()])
        elif isinstance(value, list):
            stack += reversed([(f"{path}[{n}]", part) for n, part in enumerate(value)])


def list_entries(owner: dict[str, Any], field: str) -> list[Any]:
    """Return the entries of a list; none if the field is absent or something else."""
    entries = owner.get(field)
    return entries if isinstance(entries, list) else []


def find_duplicates(owner: dict[str, Any], field: str, key: str, path: str) -> Iterator[Issue]:
    """Yield an issue for each entry of a list that repeats an earlier name."""
    seen: set[str] = set()
    for n, entry in enumerate(list_entries(owner, field)):
        name = entry.get(key) if isinstance(entry, dict) else None
        if isinstance(name, str):
            if name in seen:
                message = f"{quote(name)} is used twice; give each its own {key}."
                yield Issue(f"{path}.{field}[{n}].{key}", "duplicate_id", message)
            seen.add(name)
