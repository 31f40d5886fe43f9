"""Time as people and programs write it. Inside it is always milliseconds since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import overload


@overload
def iso_time(ms: int) -> str: ...
@overload
def iso_time(ms: int | None) -> str | None: ...
def iso_time(ms: int | None) -> str | None:
    """ISO 8601 in UTC with milliseconds, as every answer writes it."""
    if ms is None:
        return None
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: str) -> int | None:
    """The moment that an ISO 8601 text with a zone names, or None: a time without a zone is nobody's."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return int(moment.timestamp() * 1000) if moment.tzinfo is not None else None
