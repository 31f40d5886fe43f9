"""Small charts: a channel's count against its average in earlier runs. Pure.

Unknown numbers are not drawn (E100). Every chart has its numbers beside it as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from assent.engine.learning.measured import Measurement
from assent.gate.measurement.metrics import (
    amount,
    name_number,
    read_numbers,
)
from assent.gate.measurement.recommend import Usual, group_numbers
from assent.kernel.structs import Record

BAR: Final = 240
"""Length of the longest bar in pixels."""

LINE_WIDTH: Final = 240
LINE_HEIGHT: Final = 48
EDGE: Final = 4


class Bar(Record):
    """One count of one channel, with its average there."""

    channel: str
    name: str
    value: float
    usual: Usual | None
    length: int
    usual_at: int | None
    compared: str

    @property
    def is_drawn(self) -> bool:
        return self.length > 0 or self.usual is not None

    @property
    def written(self) -> str:
        return amount(self.value)

    @property
    def is_up(self) -> bool:
        return self.usual is not None and self.value > self.usual.average


def draw_bars(found: Measurement) -> tuple[Bar, ...]:
    """The bars of every channel. Lengths are comparable within one metric only."""
    known = {(each.channel, each.metric): each for each in found.baseline}
    shown = [
        (channel, name, float(numbers[name]), known.get((channel, name)))
        for channel, numbers in group_numbers(found.sources).items()
        for name in list_counts(numbers)
    ]
    alike: dict[str, list[float]] = {}
    for _, name, value, usual in shown:
        alike.setdefault(name, []).extend([value, usual.average] if usual is not None else [value])
    # A number without a comparison gets no bar: any length would mislead.
    longest = {name: max(values) if len(values) > 1 else 0 for name, values in alike.items()}
    return tuple(_draw(*each, longest[each[1]]) for each in shown)


def list_counts(numbers: Mapping[str, float]) -> list[str]:
    """The counts of a channel to draw: deliveries, one exposure, the responses."""
    known = read_numbers(numbers)
    return [*known.deliveries, *([known.exposure] if known.exposure else []), *known.responses]


def _draw(channel: str, name: str, value: float, usual: Usual | None, most: float) -> Bar:
    return Bar(
        channel=channel,
        name=name_number(name),
        value=value,
        usual=usual,
        length=_scale(value, most),
        usual_at=_scale(usual.average, most) if usual is not None else None,
        compared=describe_difference(value, usual),
    )


def _scale(value: float, most: float) -> int:
    return round(BAR * max(0.0, value) / most) if most > 0 else 0


def describe_difference(value: float, usual: Usual | None) -> str:
    """Compare a number with its average, in words."""
    if usual is None:
        return "nothing to compare with yet"
    average = f"the {amount(usual.average)} of one earlier run"
    if usual.runs > 1:
        average = f"the average of {usual.runs} earlier runs, {amount(usual.average)}"
    if value == usual.average:
        return f"as {average}"
    return f"{'above' if value > usual.average else 'below'} {average}"


class Spark(Record):
    """One number over several runs, oldest first."""

    path: str
    last: tuple[int, int]
    values: tuple[float, ...]


def spark(values: tuple[float, ...]) -> Spark | None:
    """A sparkline, if there are at least two numbers."""
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
