"""Values as short or readable text."""

from __future__ import annotations

from typing import Any

import msgspec


def truncate(text: str, most: int) -> str:
    """Return at most `most` characters of a text; a cut one ends with an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def to_text(value: Any) -> str:
    """Return a text as it is, any other value as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def indent_json(value: Any) -> str:
    """Write a value as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
