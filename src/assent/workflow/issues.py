"""Issues of a definition or of submitted content: path, code, and advice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assent.kernel.structs import Record

MAX_PATH_CHARS: Final = 200
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


def quote(value: object, limit: int = 60) -> str:
    """Quote a value for a message: short, on one line, without control characters."""
    text = value if isinstance(value, str) else _as_json(value)
    text = "".join(char if char.isprintable() else " " for char in text[: limit + 1])
    quoted = f'"{text[:limit]}{"…" if len(text) > limit else ""}"'
    return quoted if isinstance(value, str) else quoted[1:-1]


def _as_json(value: object) -> str:
    """Write a value as JSON: null and true, not None and True."""
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return repr(value)


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
