"""What is wrong with a definition or with what an agent sent: where, which kind, and what to do about it."""

from __future__ import annotations

import msgspec


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


def shown(value: object, limit: int = 60) -> str:
    """A value as it may stand in a message: short, on one line, without control characters."""
    text = value if isinstance(value, str) else repr(value)
    text = "".join(char if char.isprintable() else " " for char in text[: limit + 1])
    quoted = f'"{text[:limit]}{"…" if len(text) > limit else ""}"'
    return quoted if isinstance(value, str) else quoted[1:-1]
