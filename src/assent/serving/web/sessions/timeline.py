"""The timeline of a session as bars on one time axis: a row for each step, coloured by its run.

Hours and days in which nothing happened would press every step into a line. The axis therefore cuts
such gaps short and marks them; the length of a step is also written out. Rows have the same height
beside one drawing, as in `graph`. Positions are percentages, so that the drawing fits any width.
Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from assent.engine.views.session_timeline import Moment, TimedStep
from assent.kernel.limits import DAY_MS, MINUTE_MS
from assent.kernel.structs import Record
from assent.serving.web.sessions.graph import REM, ROW, ROWS, RowWindow, clamp_row

CUT_FROM: Final = 8
"""A gap is cut to as many times the median of all gaps."""

MIN_PERCENT: Final = 0.6
"""A bar is at least this wide, so that it can be seen."""


class TimelineRow(Record, kw_only=True):
    """A day, a step, or a person's note."""

    step: TimedStep | None = None
    note: Moment | None = None
    day_ms: int | None = None

    @property
    def at_ms(self) -> int:
        if self.step is not None:
            return self.step.ended_ms if self.step.ended_ms is not None else self.step.started_ms
        return self.note.at_ms if self.note is not None else self.day_ms or 0


class TimelineBar(Record, kw_only=True):
    x: float
    width: float
    y: int
    lane: int
    kind: str


class TimelineMark(Record, kw_only=True):
    x: float
    y: int
    kind: str


class TimelineDrawing(Record, kw_only=True):
    height: int
    bars: tuple[TimelineBar, ...]
    marks: tuple[TimelineMark, ...]
    cuts: tuple[float, ...]
    """Where a gap was cut short."""

    @property
    def height_rem(self) -> str:
        return f"{self.height / REM:g}rem"


class TimelinePage(RowWindow, frozen=True, kw_only=True):
    rows: tuple[TimelineRow, ...]
    drawing: TimelineDrawing


def page(
    steps: tuple[TimedStep, ...],
    notes: tuple[Moment, ...],
    run_ids: tuple[str, ...],
    now_ms: int,
    first: int | None,
) -> TimelinePage:
    """A page of the timeline, by default the last."""
    rows = order_rows(steps, notes)
    first = clamp_row(len(rows) - ROWS if first is None else first, len(rows))
    shown = rows[first : first + ROWS]
    return TimelinePage(rows=shown, first=first, total=len(rows), drawing=_draw(shown, run_ids, now_ms))


def order_rows(steps: Iterable[TimedStep], notes: Iterable[Moment]) -> tuple[TimelineRow, ...]:
    """Steps and notes in order of their end, with a row where a new day begins."""
    found = [TimelineRow(step=each) for each in steps] + [TimelineRow(note=each) for each in notes]
    pending = [each for each in found if each.step is not None and each.step.kind == "pending"]
    past = sorted((each for each in found if each not in pending), key=lambda row: row.at_ms)
    rows: list[TimelineRow] = []
    day = -1
    for each in past:
        if each.at_ms // DAY_MS != day:
            day = each.at_ms // DAY_MS
            rows.append(TimelineRow(day_ms=day * DAY_MS))
        rows.append(each)
    return (*rows, *pending)


class StepTries(Record):
    """How often a step was tried, over all its passes and branches, and the time that it took."""

    title: str
    done: int
    refused: int
    took_ms: int

    @property
    def tries(self) -> int:
        return self.done + self.refused


def count_tries(steps: Iterable[TimedStep]) -> tuple[StepTries, ...]:
    """The steps that were tried more than once, the most often tried first."""
    found: dict[str, list[TimedStep]] = {}
    for each in steps:
        if each.kind in ("step", "complete"):
            found.setdefault(each.title.partition(" (pass ")[0], []).append(each)
    counted = [
        StepTries(
            title,
            len(same),
            sum(mark.kind == "refused" for each in same for mark in each.marks),
            sum((each.ended_ms or each.started_ms) - each.started_ms for each in same),
        )
        for title, same in found.items()
    ]
    return tuple(sorted((each for each in counted if each.tries > 1), key=lambda each: -each.tries))


class Axis(Record):
    """Maps a time to a percentage of the width."""

    times: tuple[int, ...]
    places: tuple[float, ...]
    cuts: tuple[float, ...]

    def place(self, at_ms: int) -> float:
        after = bisect_right(self.times, at_ms)
        if after == 0:
            return 0.0
        if after == len(self.times):
            return 100.0
        before_ms, next_ms = self.times[after - 1], self.times[after]
        share = (at_ms - before_ms) / (next_ms - before_ms)
        return self.places[after - 1] + share * (self.places[after] - self.places[after - 1])


def make_axis(times: Iterable[int]) -> Axis:
    """An axis over these times, with long gaps cut short."""
    known = sorted(set(times))
    gaps = [later - earlier for earlier, later in pairwise(known)]
    if not gaps:
        return Axis(tuple(known), (0.0,) * len(known), ())
    most = max(CUT_FROM * sorted(gaps)[len(gaps) // 2], MINUTE_MS)
    shown = [min(gap, most) for gap in gaps]
    whole, at = sum(shown), 0
    places, cuts = [0.0], []
    for gap, length in zip(gaps, shown, strict=True):
        if length < gap:
            cuts.append(round(100 * (at + length / 2) / whole, 2))
        at += length
        places.append(100 * at / whole)
    return Axis(tuple(known), tuple(places), tuple(cuts))


def _draw(rows: tuple[TimelineRow, ...], run_ids: tuple[str, ...], now_ms: int) -> TimelineDrawing:
    lanes = {run_id: number for number, run_id in enumerate(run_ids)}
    axis = make_axis(_times(rows, now_ms))
    bars: list[TimelineBar] = []
    marks: list[TimelineMark] = []
    for place, row in enumerate(rows):
        y = place * ROW + ROW // 2
        if row.note is not None:
            marks.append(TimelineMark(x=round(axis.place(row.note.at_ms), 2), y=y, kind="noted"))
        if row.step is None:
            continue
        begin = axis.place(row.step.started_ms)
        end = axis.place(now_ms if row.step.ended_ms is None else row.step.ended_ms)
        width = max(end - begin, MIN_PERCENT)
        x = min(begin, 100 - width)
        kind = "aside" if row.step.off_way else row.step.kind
        bars.append(
            TimelineBar(
                x=round(x, 2), width=round(width, 2), y=y, lane=lanes.get(row.step.run_id, 0), kind=kind
            )
        )
        marks += [
            TimelineMark(x=round(axis.place(each.at_ms), 2), y=y, kind=each.kind) for each in row.step.marks
        ]
    return TimelineDrawing(height=len(rows) * ROW, bars=tuple(bars), marks=tuple(marks), cuts=axis.cuts)


def _times(rows: Iterable[TimelineRow], now_ms: int) -> Iterable[int]:
    for row in rows:
        if row.note is not None:
            yield row.note.at_ms
        if row.step is not None:
            yield row.step.started_ms
            yield row.step.ended_ms if row.step.ended_ms is not None else now_ms
            yield from (each.at_ms for each in row.step.marks)
