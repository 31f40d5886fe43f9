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


def read_offset(text: str) -> str:
    """Return the zone of an ISO 8601 time, such as `+01:00`; empty for UTC."""
    minutes = (datetime.fromisoformat(text).utcoffset() or timedelta()) // timedelta(minutes=1)
    if not minutes:
        return ""
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def zoned_time(ms: int, offset: str) -> str:
    """Format a planned time in the zone it was given in, with UTC beside it: `Thu 19 Nov 2026, 9:00 (+01:00) = 08:00
    UTC`."""
    there = datetime.fromtimestamp(ms / 1000, UTC)
    if not offset:
        return f"{there:%a} {there.day} {there:%b %Y, %H:%M} UTC"
    here = there.astimezone(datetime.fromisoformat(f"2000-01-01T00:00{offset}").tzinfo)
    day = "" if here.date() == there.date() else f"{there:%a} {there.day} {there:%b}, "
    said = f"{here:%a} {here.day} {here:%b %Y}, {here.hour}:{here:%M} ({offset})"
    return f"{said} = {day}{there:%H:%M} UTC"


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
