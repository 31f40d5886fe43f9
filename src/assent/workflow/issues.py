"""What is wrong with a definition or with what an agent sent: where, which kind, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

MAX_PATH_CHARS: Final = 200


class Issue(msgspec.Struct, frozen=True, order=True):
    """One thing wrong. `path` is a JSON path, `code` a stable word, `message` says what to write instead."""

    path: str
    code: str
    message: str


class Warning(msgspec.Struct, frozen=True, order=True):
    """Something that does not stop the run, said as data. `path` names the field, loop or file it is about."""

    code: str
    message: str
    path: str = ""


def short(issue: Issue) -> Issue:
    """The issue with a path that can be read: names of any length stand in it."""
    return msgspec.structs.replace(issue, path=issue.path[:MAX_PATH_CHARS])


def quote(value: object, limit: int = 60) -> str:
    """A value as it may stand in a message: short, on one line, without control characters."""
    text = value if isinstance(value, str) else _as_json(value)
    text = "".join(char if char.isprintable() else " " for char in text[: limit + 1])
    quoted = f'"{text[:limit]}{"…" if len(text) > limit else ""}"'
    return quoted if isinstance(value, str) else quoted[1:-1]


def _as_json(value: object) -> str:
    """As the author wrote it: null and true, not the names they have here."""
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def places(document: Any) -> Iterator[tuple[str, Any]]:
    """Every value in a document with its path, in the author's order, however deep it nests."""
    stack = [("$", document)]
    while stack:
        path, value = stack.pop()
        yield path, value
        if isinstance(value, dict):
            stack += reversed([(f"{path}.{key}", part) for key, part in value.items()])
        elif isinstance(value, list):
            stack += reversed([(f"{path}[{n}]", part) for n, part in enumerate(value)])


def twice(owner: dict[str, Any], field: str, key: str, path: str) -> Iterator[Issue]:
    """Entries of a list that bear the name of an earlier one."""
    seen: set[str] = set()
    entries = owner.get(field)
    for n, entry in enumerate(entries if isinstance(entries, list) else ()):
        name = entry.get(key) if isinstance(entry, dict) else None
        if isinstance(name, str):
            if name in seen:
                message = f"{quote(name)} is used twice; give each its own {key}."
                yield Issue(f"{path}.{field}[{n}].{key}", "duplicate_id", message)
            seen.add(name)
