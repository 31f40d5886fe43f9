"""Long lists: their pages with numbers and URLs, and a period of days as a filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Final
from urllib.parse import urlencode

import msgspec

from assent.engine.views.run_views import Period
from assent.kernel.structs import Record
from assent.serving.web.shell.times import day_of, day_start, write_day


class Pages(Record):
    """A page of a list. `path` and `query` build the URLs of the others."""

    number: int
    size: int
    count: int
    path: str
    query: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def last(self) -> int:
        return max(1, -(-self.count // self.size))

    def address(self, number: int) -> str:
        page = str(number) if number > 1 else ""
        return with_query(self.path, {**self.query, "page": page}).removesuffix("?")


def with_query(path: str, query: Mapping[str, str]) -> str:
    """The URL of a list with the parameters that are not empty."""
    return f"{path}?{urlencode({name: value for name, value in query.items() if value})}"


def whole_number(text: str, digits: int = 9) -> int | None:
    """Parse a whole number of at most so many digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def page_number(text: str) -> int:
    """Parse a page number; 1 for anything else."""
    return max(1, whole_number(text, 6) or 1)


def find_page(count: int, size: int, asked: str, path: str, query: Mapping[str, str]) -> Pages:
    """The requested page, or the last one if the list is shorter."""
    whole = Pages(1, size, count, path, dict(query))
    return msgspec.structs.replace(whole, number=min(page_number(asked), whole.last))


# A period of days as a filter: from the address, as a histogram of its days, and in words.
#
# Days are those of the person who reads the page.

SHOWN_DAYS: Final = 56
"""Days of a histogram: eight weeks."""
MOST_PER_DAY: Final = 200
"""Bound of the count of one day."""
FIRST_DAY: Final = date(2000, 1, 1)
PRESETS: Final = ((7, "7 days"), (28, "28 days"), (91, "3 months"))


class DayBar(Record):
    """One day of a histogram."""

    day: str
    """As in the address: `2026-11-17`."""
    label: str
    count: int
    x: int
    y: float
    height: float
    chosen: bool
    href: str


class DayRange(Record):
    """The days that a person asked for; None is open."""

    first: date | None
    last: date | None
    today: date

    @property
    def is_open(self) -> bool:
        return self.first is None and self.last is None

    @property
    def query(self) -> dict[str, str]:
        return {
            "from": self.first.isoformat() if self.first else "",
            "to": self.last.isoformat() if self.last else "",
        }

    def period(self) -> Period:
        until = day_start(self.last + timedelta(days=1)) if self.last else None
        return Period(day_start(self.first) if self.first else 0, until)

    def shown_days(self) -> tuple[date, ...]:
        """The days of the histogram: eight weeks that end with the period."""
        end = min(self.last or self.today, self.today)
        return tuple(end - timedelta(days=back) for back in reversed(range(SHOWN_DAYS)))

    def describe(self) -> str:
        if self.first is not None and self.first == self.last:
            return write_day(self.first)
        if self.first is None:
            return f"until {write_day(self.last)}" if self.last else "all time"
        return f"{write_day(self.first)} to {write_day(self.last) if self.last else 'today'}"


def read_range(query: Callable[[str], str], now_ms: int) -> DayRange:
    """Read `from` and `to`, the days of a period; a wrong one is left out."""
    first, last = _read_day(query("from")), _read_day(query("to"))
    if first is not None and last is not None and first > last:
        first, last = last, first
    return DayRange(first, last, day_of(now_ms))


def _read_day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if FIRST_DAY <= day < date(9000, 1, 1) else None


def day_bounds(days: Sequence[date]) -> list[tuple[int, int]]:
    """The first millisecond of each day and the one after its last."""
    return [(day_start(day), day_start(day + timedelta(days=1))) for day in days]


def draw_days(
    asked: DayRange, counts: Sequence[int], path: str, kept: Mapping[str, str]
) -> tuple[DayBar, ...]:
    """Draw the histogram of a period. Each day leads to itself as the period."""
    most = max((*counts, 1))
    bars = []
    for place, (day, count) in enumerate(zip(asked.shown_days(), counts, strict=True)):
        text, height = day.isoformat(), max(round(100 * count / most, 2), 3.0 if count else 0.0)
        number = f"{count:,}" if count < MOST_PER_DAY else f"{count:,} or more"
        chosen = not asked.is_open and (asked.first or FIRST_DAY) <= day <= (asked.last or asked.today)
        href = with_query(path, {**kept, "from": text, "to": text})
        bars.append(
            DayBar(text, f"{write_day(day)}: {number}", count, place * 10, 100 - height, height, chosen, href)
        )
    return tuple(bars)


def preset_links(asked: DayRange, path: str, kept: Mapping[str, str]) -> list[dict[str, object]]:
    """The chips of usual periods, and whether one is chosen."""
    found: list[dict[str, object]] = []
    for days, label in PRESETS:
        first = asked.today - timedelta(days=days - 1)
        href = with_query(path, {**kept, "from": first.isoformat()})
        found.append({"label": label, "href": href, "chosen": asked.first == first and asked.last is None})
    return [*found, {"label": "All time", "href": with_query(path, kept), "chosen": asked.is_open}]
