"""Time formats for people and programs. The server uses milliseconds since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload


@overload
def iso_time(ms: int) -> str: ...
@overload
def iso_time(ms: int | None) -> str | None: ...
def iso_time(ms: int | None) -> str | None:
    """Format a time as ISO 8601 in UTC with milliseconds."""
    if ms is None:
        return None
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: str) -> int | None:
    """Parse an ISO 8601 time; None if it is invalid or has no time zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return int(moment.timestamp() * 1000) if moment.tzinfo is not None else None


def full_time(ms: int) -> str:
    """Format a time for a text that is read later: `22 September 2026 at 14:05 UTC`."""
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return f"{moment.day} {moment:%B %Y} at {moment:%H:%M} UTC"


def readable_time(ms: int, now_ms: int) -> str:
    """Format a time for a sentence: `today at 14:05 UTC`, `on 12 March at 14:05 UTC`."""
    moment, now = (datetime.fromtimestamp(each / 1000, UTC) for each in (ms, now_ms))
    days = {timedelta(days=-1): "yesterday", timedelta(0): "today", timedelta(days=1): "tomorrow"}
    year = "" if moment.year == now.year else f" {moment.year}"
    day = days.get(moment.date() - now.date(), f"on {moment.day} {moment:%B}{year}")
    return f"{day} at {moment:%H:%M} UTC"
