"""Lays out the tree of a run: the row and lane of each node, the folded stretches, and the SVG
beside the list.

The path to the tip is the trunk, in the first lane. Other branches of a node follow right below it,
one lane further in, before the trunk continues. A lane is therefore a fork depth, not a branch. Off
the trunk the larger subtree stays in its lane, which bounds the lanes by the logarithm of the
nodes: 2,000 nodes need at most a dozen. Long stretches of plain steps fold into one row.

Every row has the same height, so that one drawing fits beside the list of links that a screen
reader reads. The drawing contains no text that people wrote. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Final

import msgspec

from assent.engine.views.session_views import Moment, TimedStep, TreeNode
from assent.kernel.limits import DAY_MS, MINUTE_MS
from assent.kernel.structs import Record

ROWS: Final = 100

FOLDED_FROM: Final = 5
"""Shorter stretches of plain steps are not folded."""

LANE: Final = 18
ROW: Final = 44
"""Pixels at the default text size, with which the drawing scales."""

REM: Final = 16


class LaidOutRow(Record, kw_only=True):
    """A row of the graph: a node, or a stretch of `folded` nodes that starts with it."""

    node: TreeNode
    lane: int
    through: tuple[int, ...]
    """Lanes that cross the row."""
    from_above: bool
    """Whether its lane continues from above; else it forks off or is the root."""
    goes_on: bool
    folded: int = 0
    forks: int = 0
    """The number of branches from here, if there are several."""
    is_tip: bool = False
    on_way: bool = False
    """Whether it is on the path to the selected node."""
    starts_branch: bool = False
    branch: int = 0
    """The number of its branch; 0 if there is one branch only."""


class RowWindow(Record, kw_only=True):
    """The rows of one page and their offset."""

    rows: tuple[Any, ...]
    first: int
    total: int

    @property
    def earlier(self) -> int | None:
        return max(0, self.first - ROWS) if self.first > 0 else None

    @property
    def later(self) -> int | None:
        end = self.first + len(self.rows)
        return end if end < self.total else None


class Graph(RowWindow, frozen=True, kw_only=True):
    rows: tuple[LaidOutRow, ...]
    lanes: int
    all_rows: tuple[LaidOutRow, ...]
    """Those of every page, for the overview."""


def layout(
    nodes: tuple[TreeNode, ...],
    tip: int,
    selected: int,
    *,
    opened: frozenset[int] = frozenset(),
    first: int | None = None,
) -> Graph:
    """The rows around the selected node, or from row `first` on. The stretches of the nodes in
    `opened` are unfolded."""
    rows = fold(order(nodes, tip, selected), selected, opened)
    if first is None:
        place = next((n for n, row in enumerate(rows) if row.node.node == selected), 0)
        first = 0 if len(rows) <= ROWS else min(max(0, place - ROWS // 2), len(rows) - ROWS)
    first = clamp_row(first, len(rows))
    shown = rows[first : first + ROWS]
    lanes = max((max((row.lane, *row.through)) for row in shown), default=0) + 1
    return Graph(rows=tuple(shown), first=first, total=len(rows), lanes=lanes, all_rows=tuple(rows))


def clamp_row(first: int, total: int) -> int:
    return min(max(0, first), max(0, total - 1))


def order(nodes: tuple[TreeNode, ...], tip: int, selected: int) -> list[LaidOutRow]:
    """Every node with its lane, in reading order."""
    by_number = {each.node: each for each in nodes}
    children: dict[int, list[int]] = {each.node: [] for each in nodes}
    size = dict.fromkeys(by_number, 1)
    for each in sorted(nodes, key=lambda node: -node.node):
        if each.parent is not None:
            children[each.parent].append(each.node)
            size[each.parent] += size[each.node]
    trunk, on_way = _find_path(by_number, tip), _find_path(by_number, selected)
    branches = number_branches(nodes, tip)

    def straight_on(node: int) -> int | None:
        after = children[node]
        if not after:
            return None
        return next((n for n in after if n in trunk), None) or max(after, key=lambda n: (size[n], n))

    rows: list[LaidOutRow] = []
    passing: set[int] = set()
    waiting = [(min(by_number), 0, False)]
    while waiting:
        number, lane, from_above = waiting.pop()
        passing.discard(lane)
        following = straight_on(number)
        rows.append(
            LaidOutRow(
                node=by_number[number],
                lane=lane,
                through=tuple(sorted(passing)),
                from_above=from_above,
                goes_on=following is not None,
                forks=len(children[number]) if len(children[number]) > 1 else 0,
                is_tip=number == tip,
                on_way=number in on_way,
                starts_branch=not from_above and number != min(by_number),
                branch=branches.get(number, 0),
            )
        )
        if following is not None:
            passing.add(lane)
            waiting.append((following, lane, True))
            # Pushed youngest first, so that the oldest is popped next.
            waiting += [(n, lane + 1, False) for n in children[number] if n != following]
    return rows


def number_branches(nodes: tuple[TreeNode, ...], tip: int) -> dict[int, int]:
    """Number the branches in the order in which their ends were made, and assign each node to one. A node
    that several share belongs to the way to the tip, else to the newest of them. Empty if there is one
    branch only."""
    by_number = {each.node: each for each in nodes}
    parents = {each.parent for each in nodes}
    ends = [number for number in sorted(by_number) if number not in parents]
    if len(ends) < 2:
        return {}
    numbers = {end: number for number, end in enumerate(ends, start=1)}
    found: dict[int, int] = {}
    for end in (tip, *reversed(ends)):
        at: int | None = end
        while at is not None and at not in found:
            found[at] = numbers[end]
            at = by_number[at].parent
    return found


def _find_path(by_number: dict[int, TreeNode], end: int) -> frozenset[int]:
    found = set()
    at: int | None = end if end in by_number else None
    while at is not None:
        found.add(at)
        at = by_number[at].parent
    return frozenset(found)


def fold(rows: list[LaidOutRow], selected: int, opened: frozenset[int]) -> list[LaidOutRow]:
    """Fold each long plain stretch into one row."""
    near = {
        place + step
        for place, row in enumerate(rows)
        if row.node.node == selected or row.node.parent == selected
        for step in (-1, 0, 1)
    }
    kept: list[LaidOutRow] = []
    stretch: list[LaidOutRow] = []

    def close() -> None:
        plain = len(stretch) < FOLDED_FROM or any(row.node.node in opened for row in stretch)
        if plain:
            kept.extend(stretch)
        else:
            on_way = any(row.on_way for row in stretch)
            kept.append(msgspec.structs.replace(stretch[0], folded=len(stretch), on_way=on_way))
        stretch.clear()

    for place, row in enumerate(rows):
        if place in near or not _plain(row):
            close()
            kept.append(row)
        else:
            if stretch and stretch[-1].lane != row.lane:
                close()
            stretch.append(row)
    close()
    return kept


def _plain(row: LaidOutRow) -> bool:
    """Whether a step is plain: it continues straight, with no refusal and no checkpoint."""
    node = row.node
    return row.from_above and row.goes_on and not (row.forks or node.refused or node.checkpoints)


OVERVIEW_PARTS: Final = 100
"""The overview of a long graph has as many parts, from the first row to the last."""


class GraphStrip(Record, kw_only=True):
    """A whole graph in one strip. Each part leads to its rows."""

    lanes: int
    dots: tuple[tuple[int, int, str], ...]
    """Part, lane and kind of each mark."""
    parts: tuple[int, ...]
    """The first row of each part."""
    window: tuple[float, float]
    """Where the page begins and how long it is, in parts."""


def draw_overview(graph: Graph) -> GraphStrip | None:
    """The strip of a graph that has more rows than a page; None for any other."""
    if graph.total <= ROWS:
        return None
    kinds: dict[tuple[int, int], str] = {}
    for place, row in enumerate(graph.all_rows):
        at = (place * OVERVIEW_PARTS // graph.total, row.lane)
        kind = "refused" if row.node.refused else "way" if row.on_way else "step"
        kinds[at] = min(kind, kinds.get(at, kind), key=("refused", "way", "step").index)
    share = OVERVIEW_PARTS / graph.total
    return GraphStrip(
        lanes=max(lane for _, lane in kinds) + 1,
        dots=tuple((part, lane, kind) for (part, lane), kind in sorted(kinds.items())),
        parts=tuple(part * graph.total // OVERVIEW_PARTS for part in range(OVERVIEW_PARTS)),
        window=(round(graph.first * share, 2), round(len(graph.rows) * share, 2)),
    )


class Drawing(Record, kw_only=True):
    width: int
    height: int
    lines: tuple[tuple[int, bool, str], ...]
    """Lane, whether it is on the selected path, and the SVG path."""
    marks: tuple[tuple[str, int, int], ...]
    """Kind and position of each mark."""

    @property
    def width_rem(self) -> str:
        return f"{self.width / REM:g}rem"

    @property
    def height_rem(self) -> str:
        return f"{self.height / REM:g}rem"


def draw(graph: Graph) -> Drawing:
    """The lines and marks for the rows of a page."""
    lines: dict[tuple[int, bool], list[str]] = {}
    marks: list[tuple[str, int, int]] = []
    spans: dict[int, list[tuple[int, int]]] = {}
    for place, row in enumerate(graph.rows):
        top, middle, bottom = place * ROW, place * ROW + ROW // 2, (place + 1) * ROW
        for lane in row.through:
            _span(spans, lane, top, bottom)
        if row.from_above:
            _span(spans, row.lane, top, middle)
        elif row.starts_branch:
            before, here = lane_x(row.lane - 1), lane_x(row.lane)
            curve = f"M{before} {top}C{before} {middle} {here} {top} {here} {middle}"
            lines.setdefault((row.lane, row.on_way), []).append(curve)
        if row.goes_on:
            _span(spans, row.lane, middle, bottom)
        marks += [(kind, lane_x(row.lane), middle) for kind in _marks(row)]
    for lane, parts in spans.items():
        path = "".join(f"M{lane_x(lane)} {top}V{bottom}" for top, bottom in parts)
        lines.setdefault((lane, False), []).insert(0, path)
    lines.update(_on_way(graph.rows, lines))
    drawn = sorted((lane, on_way, "".join(paths)) for (lane, on_way), paths in lines.items())
    return Drawing(
        width=graph.lanes * LANE,
        height=len(graph.rows) * ROW,
        lines=tuple(sorted(drawn, key=lambda line: line[1])),
        marks=tuple(marks),
    )


def _on_way(
    rows: tuple[LaidOutRow, ...], lines: dict[tuple[int, bool], list[str]]
) -> Iterable[tuple[tuple[int, bool], list[str]]]:
    """The straight segments of the path to the selected node."""
    found: dict[tuple[int, bool], list[str]] = {}
    above: dict[int, int] = {}
    for place, row in enumerate(rows):
        middle = place * ROW + ROW // 2
        if row.on_way:
            if row.from_above:
                path = f"M{lane_x(row.lane)} {above.get(row.lane, 0)}V{middle}"
                found.setdefault((row.lane, True), list(lines.get((row.lane, True), []))).append(path)
            elif row.starts_branch and row.lane - 1 in above:
                # The trunk from the fork down to the start of the branch.
                path = f"M{lane_x(row.lane - 1)} {above[row.lane - 1]}V{place * ROW}"
                key = (row.lane - 1, True)
                found.setdefault(key, list(lines.get(key, []))).append(path)
                found.setdefault((row.lane, True), list(lines.get((row.lane, True), [])))
            above[row.lane] = middle
    return found.items()


def _marks(row: LaidOutRow) -> tuple[str, ...]:
    if row.folded:
        return ("folded",)
    where = "tip" if row.is_tip else "end" if not row.goes_on else "fork" if row.forks else "step"
    happened = [
        name for name, count in (("refused", row.node.refused), ("kept", row.node.checkpoints)) if count
    ]
    return (where, *happened)


def _span(spans: dict[int, list[tuple[int, int]]], lane: int, top: int, bottom: int) -> None:
    """Add a vertical line, joined to the one above it."""
    parts = spans.setdefault(lane, [])
    if parts and parts[-1][1] == top:
        parts[-1] = (parts[-1][0], bottom)
    else:
        parts.append((top, bottom))


def lane_x(lane: int) -> int:
    return lane * LANE + LANE // 2


# The timeline of a session as bars on one time axis: a row for each step, coloured by its run.
#
# Hours and days in which nothing happened would press every step into a line. The axis therefore cuts
# such gaps short and marks them; the length of a step is also written out. Rows have the same height
# beside one drawing, as in `graph`. Positions are percentages, so that the drawing fits any width.
# Pure.

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


class TimeAxis(Record):
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


def make_axis(times: Iterable[int]) -> TimeAxis:
    """An axis over these times, with long gaps cut short."""
    known = sorted(set(times))
    gaps = [later - earlier for earlier, later in pairwise(known)]
    if not gaps:
        return TimeAxis(tuple(known), (0.0,) * len(known), ())
    most = max(CUT_FROM * sorted(gaps)[len(gaps) // 2], MINUTE_MS)
    shown = [min(gap, most) for gap in gaps]
    whole, at = sum(shown), 0
    places, cuts = [0.0], []
    for gap, length in zip(gaps, shown, strict=True):
        if length < gap:
            cuts.append(round(100 * (at + length / 2) / whole, 2))
        at += length
        places.append(100 * at / whole)
    return TimeAxis(tuple(known), tuple(places), tuple(cuts))


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
