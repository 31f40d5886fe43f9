"""What a measurement comes to: our cost, the peer's cost in the same run, and whether a limit is kept.

Every number is a cost, so that less is better throughout. Measurements that are compared are made in turns, and the
ratio is the median over the turns: a busy moment of the machine then hits both sides of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TypeVar

import msgspec

T = TypeVar("T")


class TooFewSuccesses(Exception):  # noqa: N818 - what happened
    """A run in which too little succeeded proves nothing about speed."""


class NotRun(Exception):  # noqa: N818 - what happened
    """Something that a measurement needs is not on this machine; the message says what."""


class Limit(msgspec.Struct, frozen=True):
    """The most a figure may be: a multiple of the peer's cost, or the peer's cost and so much more."""

    times: float | None = None
    more: float | None = None

    def words(self, unit: str) -> str:
        return f"≤ {self.times:g}×" if self.times is not None else f"≤ +{self.more:g} {unit}"


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table."""

    work: str
    against: str
    unit: str
    ours: float
    theirs: float
    ratio: float
    more: float
    """Our cost above the peer's, in the unit."""
    successes: int
    """Calls or transactions of ours that were checked to have worked."""
    limit: Limit | None = None
    kept: bool | None = None
    """Whether the limit is kept; None where there is none."""
    note: str = ""
    """What the reader should know beside the numbers."""


def compared(
    work: str,
    against: str,
    unit: str,
    ours: Sequence[float],
    theirs: Sequence[float],
    *,
    successes: int,
    limit: Limit | None = None,
    note: str = "",
) -> Figure:
    """A figure from costs that were measured in turns."""
    ratio = median(mine / other for mine, other in zip(ours, theirs, strict=True))
    more = median(mine - other for mine, other in zip(ours, theirs, strict=True))
    kept: bool | None = None
    if limit is not None:
        kept = ratio <= limit.times if limit.times is not None else more <= (limit.more or 0.0)
    return Figure(
        work=work,
        against=against,
        unit=unit,
        ours=median(ours),
        theirs=median(theirs),
        ratio=ratio,
        more=more,
        successes=successes,
        limit=limit,
        kept=kept,
        note=note,
    )


def in_turns(sides: Mapping[str, Callable[[], T]], rounds: int) -> dict[str, list[T]]:
    """Measure every side once a round; the order is reversed each time, so that no side always follows another."""
    costs: dict[str, list[T]] = {name: [] for name in sides}
    order = list(sides)
    for _ in range(rounds):
        for name in order:
            costs[name].append(sides[name]())
        order.reverse()
    return costs


def require(successes: int, least: int, what: str) -> None:
    """Refuse to draw a figure from a run that mostly failed."""
    if successes < least:
        raise TooFewSuccesses(f"{what}: {successes} succeeded, at least {least} must")
