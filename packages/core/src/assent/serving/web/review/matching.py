"""Common subsequences of two lists of words or lines, within a budget of steps. Pure.

Finds the longest common run, then recurses before and behind it, as `difflib` does. On repetitive
text that takes cubic time, so every comparison is charged to a budget. When it is exhausted, the
remainder counts as replaced. Common prefixes and suffixes are matched in linear time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

Kind = Literal["equal", "replace", "delete", "insert"]
Run = tuple[int, int, int]
"""Start in the old sequence, start in the new sequence, length."""


class Steps:
    """The remaining comparisons. Several matches may share them."""

    __slots__ = ("left",)

    def __init__(self, most: int) -> None:
        self.left = most

    def take(self, count: int) -> bool:
        """Charge `count` steps. Returns False if too few are left."""
        if self.left < count:
            self.left = -1
        else:
            self.left -= count
        return self.left >= 0


def compare(
    old: Sequence[str], new: Sequence[str], steps: Steps
) -> Iterator[tuple[Kind, int, int, int, int]]:
    """The opcodes that turn `old` into `new`, as `SequenceMatcher.get_opcodes` returns them."""
    at, there = 0, 0
    for start, place, length in (*_common_runs(old, new, steps), (len(old), len(new), 0)):
        if at < start or there < place:
            kind: Kind = "replace" if at < start and there < place else "delete" if at < start else "insert"
            yield kind, at, start, there, place
        at, there = start + length, place + length
        if length:
            yield "equal", start, at, place, there


def _common_runs(old: Sequence[str], new: Sequence[str], steps: Steps) -> list[Run]:
    head, least = 0, min(len(old), len(new))
    while head < least and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < least - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    end, new_end = len(old) - tail, len(new) - tail
    places: dict[str, list[int]] = {}
    for place in range(head, new_end):
        places.setdefault(new[place], []).append(place)
    found: list[Run] = [(0, 0, head)]
    waiting = [(head, end, head, new_end)]
    while waiting:
        low, high, new_low, new_high = waiting.pop()
        run = _longest(old, places, low, high, new_low, new_high, steps)
        if run is None:
            break
        start, place, length = run
        if length:
            found.append(run)
            waiting.append((low, start, new_low, place))
            waiting.append((start + length, high, place + length, new_high))
    found.append((end, new_end, tail))
    return _join(sorted(found))


def _longest(
    old: Sequence[str],
    places: Mapping[str, Sequence[int]],
    low: int,
    high: int,
    new_low: int,
    new_high: int,
    steps: Steps,
) -> Run | None:
    """Return the longest common run, the earliest of equals; None if the steps run out."""
    best: Run = (low, new_low, 0)
    before: dict[int, int] = {}
    for at in range(low, high):
        known = places.get(old[at], ())
        first, last = bisect_left(known, new_low), bisect_left(known, new_high)
        if not steps.take(last - first + 1):
            return None
        lengths: dict[int, int] = {}
        for place in known[first:last]:
            length = lengths[place] = before.get(place - 1, 0) + 1
            if length > best[2]:
                best = (at - length + 1, place - length + 1, length)
        before = lengths
    return best


def _join(runs: list[Run]) -> list[Run]:
    """Merge adjacent runs and drop empty ones."""
    joined: list[Run] = []
    for start, place, length in runs:
        if not length:
            continue
        if joined and (sum(joined[-1][::2]), sum(joined[-1][1:])) == (start, place):
            joined[-1] = (joined[-1][0], joined[-1][1], joined[-1][2] + length)
        else:
            joined.append((start, place, length))
    return joined
