"""Small charts of numbers: what a run brought against what earlier ones did on average. Pure: numbers in, lengths out.

A bar has a length only where there is a number; what is not known is not drawn (E100). The numbers stand beside every
chart as text, so that a drawing is never the only place that says something.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.measurement import Measurement

BAR: Final = 240
"""Pixels of the longest bar."""

LINE_WIDTH: Final = 240
LINE_HEIGHT: Final = 48
EDGE: Final = 4


class Bar(msgspec.Struct, frozen=True):
    """One number against its baseline."""

    name: str
    value: float
    usual: float | None
    length: int
    usual_at: int | None
    compared: str

    @property
    def is_up(self) -> bool:
        return self.usual is not None and self.value > self.usual


def bars(found: Measurement) -> tuple[Bar, ...]:
    """Every total of a measurement, the largest first."""
    usual = found.baseline.averages if found.baseline is not None else {}
    most = max([*found.totals.values(), *(usual.get(name, 0) for name in found.totals)], default=0)
    return tuple(
        _bar(name, value, usual.get(name), most)
        for name, value in sorted(found.totals.items(), key=lambda each: (-each[1], each[0]))
    )


def _bar(name: str, value: float, usual: float | None, most: float) -> Bar:
    return Bar(
        name=name,
        value=value,
        usual=usual,
        length=_scale(value, most),
        usual_at=_scale(usual, most) if usual is not None else None,
        compared=difference(value, usual),
    )


def _scale(value: float, most: float) -> int:
    return round(BAR * max(0.0, value) / most) if most > 0 else 0


def difference(value: float, usual: float | None) -> str:
    """How a number stands to the average, in words."""
    if usual is None:
        return "nothing to compare with yet"
    if usual == 0:
        return "the average is 0"
    percent = round(100 * (value - usual) / usual)
    if percent == 0:
        return f"as on average ({number(usual)})"
    return f"{abs(percent):,} % {'above' if percent > 0 else 'below'} the average of {number(usual)}"


def number(value: float) -> str:
    """`1,234` or `12.5`."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


class Spark(msgspec.Struct, frozen=True):
    """The same number over several runs, oldest first."""

    path: str
    last: tuple[int, int]
    values: tuple[float, ...]


def spark(values: tuple[float, ...]) -> Spark | None:
    """A line, where there are at least two numbers."""
    if len(values) < 2:
        return None
    low, high = min(values), max(values)
    span = (high - low) or 1
    step = (LINE_WIDTH - 2 * EDGE) / (len(values) - 1)
    points = [
        (
            round(EDGE + n * step),
            round(LINE_HEIGHT - EDGE - (value - low) / span * (LINE_HEIGHT - 2 * EDGE)),
        )
        for n, value in enumerate(values)
    ]
    path = "M" + "L".join(f"{x} {y}" for x, y in points)
    return Spark(path, points[-1], values)
