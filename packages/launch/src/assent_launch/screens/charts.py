"""Geometry of charts: columns over an axis, rows, a funnel. Pure.

A chart has one axis and one metric: numbers of different units never share a scale. A number that was
not measured is not drawn (E100). A drawing stretches to its place, so it has no text in it: labels are
beside it, and every chart has its numbers as text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from assent.sdk import Record

HEIGHT: Final = 100
"""Height of a drawing; a value of the axis' maximum is as high."""
STEP: Final = 10
"""Width of one column with its gap."""
GAP: Final = 3
WIDE_GAP: Final = 6
FEW: Final = 8
"""Up to so many columns have the wide gap, so that a few do not fill the drawing."""
TICKS: Final = 4
"""Most steps of an axis."""
_STEPS: Final = (1, 2, 2.5, 5, 10)


class Axis(Record):
    """Ticks from 0 in equal steps; the last one is the maximum."""

    ticks: tuple[float, ...]

    @property
    def most(self) -> float:
        return self.ticks[-1]

    def scale(self, value: float) -> float:
        """The height of a value in the drawing."""
        return round(HEIGHT * min(max(value, 0.0), self.most) / self.most, 2)


def make_axis(values: Sequence[float], *, whole: bool = True) -> Axis:
    """Make an axis that reaches the greatest value in at most four round steps."""
    most = max((*values, 0.0))
    if most <= 0:
        return Axis((0.0, 1.0))
    power = 10.0 ** math.floor(math.log10(most / TICKS))
    if whole:
        power = max(power, 1.0)
    sizes = (each * power for each in _STEPS)
    step = next(each for each in sizes if each * TICKS >= most and (not whole or each.is_integer()))
    count = math.ceil(round(most / step, 9))
    return Axis(tuple(round(step * number, 9) for number in range(count + 1)))


class Column(Record):
    """One value over its place, or none."""

    x: float
    y: float
    width: float
    height: float
    has_value: bool


class ColumnChart(Record):
    axis: Axis
    columns: tuple[Column, ...]
    width: int
    lines: tuple[float, ...]
    """The heights of the ticks, the highest last."""
    baseline_y: float | None


def draw_columns(
    values: Sequence[float | None], baseline: float | None = None, scale_to: float = 0.0
) -> ColumnChart:
    """Draw a column for each value, in order, and the line of a baseline."""
    known = [value for value in values if value is not None]
    axis = make_axis(
        [*known, baseline or 0.0, scale_to], whole=all(float(each).is_integer() for each in known)
    )
    gap = WIDE_GAP if len(values) <= FEW else GAP
    columns = []
    for place, value in enumerate(values):
        height = axis.scale(value) if value is not None else 0.0
        x = place * STEP + gap / 2
        columns.append(Column(x, round(HEIGHT - height, 2), STEP - gap, height, value is not None))
    return ColumnChart(
        axis=axis,
        columns=tuple(columns),
        width=max(1, len(values)) * STEP,
        lines=tuple(round(HEIGHT - axis.scale(tick), 2) for tick in axis.ticks),
        baseline_y=round(HEIGHT - axis.scale(baseline), 2) if baseline is not None else None,
    )


def draw_multiples(series: Sequence[Sequence[float | None]]) -> tuple[ColumnChart, ...]:
    """Draw a small chart for each series of one metric, all on the scale of the greatest value."""
    most = max((value for values in series for value in values if value is not None), default=0.0)
    return tuple(draw_columns(values, scale_to=most) for values in series)


def shade(value: float, most: float) -> int:
    """The step of a heat map for a value, from 1 to 4; 0 for nothing."""
    return 0 if value <= 0 or most <= 0 else min(4, 1 + int(4 * value / most - 1e-9))


def draw_lengths(values: Sequence[float]) -> tuple[float, ...]:
    """The length of each value in percent of the longest. All values are of one metric."""
    most = max((*values, 0.0))
    return tuple(round(100 * max(0.0, value) / most, 1) if most > 0 else 0.0 for value in values)


class FunnelStep(Record):
    name: str
    value: float
    length: float
    """In percent of the first step."""
    share: float | None
    """In percent of the step before; None for the first one."""


def draw_funnel(steps: Sequence[tuple[str, float]]) -> tuple[FunnelStep, ...]:
    """Draw the steps of a funnel. A step that is greater than the first one is drawn as long."""
    first = steps[0][1] if steps else 0.0
    found: list[FunnelStep] = []
    for place, (name, value) in enumerate(steps):
        before = steps[place - 1][1] if place else None
        length = round(min(100.0, 100 * value / first), 1) if first > 0 else 0.0
        share = round(100 * value / before, 1) if before else None
        found.append(FunnelStep(name, value, length, share))
    return tuple(found)
