"""Times for people: in the time zone of the person who reads the page, named, and relative.

The zone belongs to the request. `read_in` sets it once the person is known; the edge resets it, so a
visitor by link reads UTC.
"""

from __future__ import annotations

from contextvars import ContextVar
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from typing import Final, overload
from zoneinfo import ZoneInfo, available_timezones

from assent.kernel.limits import DAY_MS, HOUR_MS, MINUTE_MS
from assent.kernel.structs import Record
from assent.kernel.times import iso_time

AREAS: Final = (
    *("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian"),
    "Pacific",
)
"""Beginnings of the zones that are offered; other names are aliases."""

_READER: ContextVar[tzinfo] = ContextVar("reader", default=UTC)


class When(Record):
    """A moment for people and programs."""

    iso: str
    text: str
    ago: str
    day: str
    clock: str
    """The time of day with its zone."""


@cache
def list_zones() -> dict[str, tuple[str, ...]]:
    """The time zones that a person can choose, by area."""
    found: dict[str, list[str]] = {}
    for name in sorted(available_timezones()):
        area, _, place = name.partition("/")
        if place and area in AREAS:
            found.setdefault(area, []).append(name)
    return {area: tuple(names) for area, names in found.items()}


def find_zone(name: str) -> str:
    """Return the name of a zone that a person can choose; empty for any other."""
    return name if name in list_zones().get(name.partition("/")[0], ()) else ""


def read_in(zone: str) -> None:
    """Write the times of this request in a zone; in UTC if it is empty or no longer known."""
    _READER.set(ZoneInfo(zone) if find_zone(zone) else UTC)


def reader_zone() -> tzinfo:
    return _READER.get()


@overload
def when(ms: int, now_ms: int) -> When: ...
@overload
def when(ms: int | None, now_ms: int) -> When | None: ...
def when(ms: int | None, now_ms: int) -> When | None:
    if ms is None:
        return None
    moment = datetime.fromtimestamp(ms / 1000, reader_zone())
    day, clock = write_day(moment.date()), f"{moment:%H:%M} {name_offset(moment)}"
    return When(iso_time(ms), f"{day}, {clock}", relative(ms - now_ms), day, clock)


def write_day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def name_offset(moment: datetime) -> str:
    """`CET`, or `UTC+3` where the zone has no letters."""
    name = moment.tzname() or ""
    if name.isalpha():
        return name
    minutes = int((moment.utcoffset() or timedelta()).total_seconds()) // 60
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours}" + (f":{rest:02}" if rest else "")


def day_of(ms: int) -> date:
    """The day of a moment where its reader is."""
    return datetime.fromtimestamp(ms / 1000, reader_zone()).date()


def day_start(day: date) -> int:
    """The first moment of a day where its reader is."""
    return int(datetime.combine(day, time(), reader_zone()).timestamp() * 1000)


def relative(delta_ms: int) -> str:
    """`5 minutes ago`, `in 3 days`."""
    size = abs(delta_ms)
    if size < MINUTE_MS:
        return "just now" if delta_ms <= 0 else "in less than a minute"
    return f"{write_span(size)} ago" if delta_ms < 0 else f"in {write_span(size)}"


def write_span(ms: int) -> str:
    """`2 days`, `3 hours`, `1 minute`, `0 seconds`: the largest unit alone."""
    for unit_ms, name in ((DAY_MS, "day"), (HOUR_MS, "hour"), (MINUTE_MS, "minute")):
        if ms >= unit_ms:
            count = ms // unit_ms
            return f"{count} {name}{'' if count == 1 else 's'}"
    return f"{ms // 1000} seconds"


def short_span(ms: int) -> str:
    """`40 s`, `3 min`, `2 h 5 min`, `2 days`."""
    if ms < MINUTE_MS:
        return f"{max(0, ms) // 1000} s"
    if ms < HOUR_MS:
        return f"{ms // MINUTE_MS} min"
    if ms < DAY_MS:
        minutes = ms % HOUR_MS // MINUTE_MS
        return f"{ms // HOUR_MS} h {minutes} min" if minutes else f"{ms // HOUR_MS} h"
    days = ms // DAY_MS
    return f"{days} day{'s' if days > 1 else ''}"
