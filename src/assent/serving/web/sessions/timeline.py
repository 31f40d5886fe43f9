"""All runs of a session in chronological order, with a lane for each and one for people's notes
(S2).

Rows have the same height beside one drawing, as in `graph`. Consecutive steps of one run share a
row, so that the alternation of the runs is visible. Pure.
"""

from __future__ import annotations

from typing import Final

from assent.engine.views.session_views import Moment
from assent.kernel.structs import Record
from assent.serving.web.sessions.graph import LANE, ROW, ROWS, Drawing, RowWindow, clamp_row, lane_x

FOLDED_FROM: Final = 4


class TimelineRow(Record):
    """One event, or several consecutive ones of one run."""

    moments: tuple[Moment, ...]
    lane: int

    @property
    def first(self) -> Moment:
        return self.moments[0]

    @property
    def last(self) -> Moment:
        return self.moments[-1]


class TimelinePage(RowWindow, frozen=True, kw_only=True):
    rows: tuple[TimelineRow, ...]
    drawing: Drawing


def page(moments: tuple[Moment, ...], run_ids: tuple[str, ...], first: int | None) -> TimelinePage:
    """A page of the timeline, by default the last. People's notes have the first lane."""
    noted = any(each.run_id is None for each in moments)
    lanes = {run_id: number for number, run_id in enumerate(run_ids, start=1 if noted else 0)}
    rows = fold(moments, lanes)
    first = clamp_row(len(rows) - ROWS if first is None else first, len(rows))
    shown = tuple(rows[first : first + ROWS])
    return TimelinePage(
        rows=shown, first=first, total=len(rows), drawing=_draw(rows, first, shown, len(lanes) + noted)
    )


def fold(moments: tuple[Moment, ...], lanes: dict[str, int]) -> list[TimelineRow]:
    rows: list[TimelineRow] = []
    steps: list[Moment] = []

    def close() -> None:
        if len(steps) >= FOLDED_FROM:
            rows.append(TimelineRow(tuple(steps), lanes[steps[0].run_id or ""]))
        else:
            rows.extend(TimelineRow((each,), lanes[each.run_id or ""]) for each in steps)
        steps.clear()

    for each in moments:
        if each.kind == "step" and (not steps or steps[-1].run_id == each.run_id):
            steps.append(each)
            continue
        close()
        if each.kind == "step":
            steps.append(each)
        else:
            rows.append(TimelineRow((each,), lanes.get(each.run_id or "", 0)))
    close()
    return rows


MARKS: Final = {"started": "start", "step": "step", "complete": "tip", "kept": "kept", "noted": "noted"}


def _draw(rows: list[TimelineRow], first: int, shown: tuple[TimelineRow, ...], lanes: int) -> Drawing:
    """Draw each run's lane from its first event to its last, clipped to the page."""
    ends: dict[int, tuple[int, int]] = {}
    for place, row in enumerate(rows):
        ends[row.lane] = (ends.get(row.lane, (place, place))[0], place)
    lines = []
    last = first + len(shown)
    for lane, (begin, end) in sorted(ends.items()):
        top = 0 if begin < first else (begin - first) * ROW + ROW // 2
        bottom = len(shown) * ROW if end >= last else (end - first) * ROW + ROW // 2
        if begin < last and end >= first and bottom > top:
            lines.append((lane, False, f"M{lane_x(lane)} {top}V{bottom}"))
    marks = tuple(
        ("many" if len(row.moments) > 1 else MARKS[row.first.kind], lane_x(row.lane), place * ROW + ROW // 2)
        for place, row in enumerate(shown)
    )
    return Drawing(width=lanes * LANE, height=len(shown) * ROW, lines=tuple(lines), marks=marks)
