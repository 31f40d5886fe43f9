"""Times for people: in UTC and relative, since the reader's time zone is unknown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import overload

from assent.kernel.limits import DAY_MS, HOUR_MS, MINUTE_MS
from assent.kernel.structs import Record
from assent.kernel.times import iso_time


class When(Record):
    """A moment for people and programs."""

    iso: str
    text: str
    ago: str


@overload
def when(ms: int, now_ms: int) -> When: ...
@overload
def when(ms: int | None, now_ms: int) -> When | None: ...
def when(ms: int | None, now_ms: int) -> When | None:
    if ms is None:
        return None
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    text = f"{moment.day} {moment:%B %Y, %H:%M} UTC"
    return When(iso_time(ms), text, relative(ms - now_ms))


def relative(delta_ms: int) -> str:
    """`5 minutes ago`, `in 3 days`."""
    size = abs(delta_ms)
    if size < MINUTE_MS:
        return "just now" if delta_ms <= 0 else "in less than a minute"
    for unit_ms, name in ((DAY_MS, "day"), (HOUR_MS, "hour"), (MINUTE_MS, "minute")):
        if size >= unit_ms:
            count = size // unit_ms
            words = f"{count} {name}{'s' if count > 1 else ''}"
            return f"{words} ago" if delta_ms < 0 else f"in {words}"
    return "just now"
