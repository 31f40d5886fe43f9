"""Orders the characters of a line for drawing: the Unicode bidirectional algorithm (UAX #9) for one
paragraph.

Covers paragraph direction from the first strong character, numbers, brackets and neutrals. Explicit
direction marks are ignored, because they are removed from a picture's text before. Knows no fonts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

from assent.sdk import Record

STRONG: Final = frozenset({"L", "R", "AL"})
NUMBERS: Final = frozenset({"EN", "AN"})
_BRACKETS: Final = {"(": ")", "[": "]", "{": "}", "⟨": "⟩", "「": "」", "（": "）"}


class DirectionRun(Record):
    """Characters in logical order that are drawn in one direction."""

    text: str
    rtl: bool


def is_rtl(text: str) -> bool:
    """Whether a paragraph runs right to left, by its first strong character (UAX #9, P2 and P3)."""
    first = next((kind for char in text if (kind := unicodedata.bidirectional(char)) in STRONG), "L")
    return first != "L"


def levels(text: str, base: int) -> list[int]:
    """Return the embedding level of every character; odd levels run right to left. `base` is the
    paragraph's: 0 or
    1."""
    kinds = [unicodedata.bidirectional(char) or "L" for char in text]
    outer = "R" if base else "L"
    _weak(kinds, outer)
    _brackets(text, kinds, outer)
    _neutrals(kinds, outer)
    steps = {"L": (0, 1), "R": (1, 0), "EN": (2, 1), "AN": (2, 1)}
    return [base + steps[kind][base] for kind in kinds]


def visual(text: str, of: Sequence[int], base: int) -> tuple[DirectionRun, ...]:
    """Return the runs of a line from left to right. `of` are the levels of its characters."""
    marked = list(of)
    for index in range(len(text) - 1, -1, -1):  # L1: trailing space gets the paragraph's level
        if not text[index].isspace():
            break
        marked[index] = base
    runs: list[tuple[int, str]] = []
    for char, level in zip(text, marked, strict=True):
        if runs and runs[-1][0] == level:
            runs[-1] = (level, runs[-1][1] + char)
        else:
            runs.append((level, char))
    for level in range(max((each[0] for each in runs), default=0), 0, -1):  # L2
        start = 0
        while start < len(runs):
            end = start
            while end < len(runs) and runs[end][0] >= level:
                end += 1
            runs[start:end] = runs[start:end][::-1]
            start = max(end, start + 1)
    return tuple(DirectionRun(part, bool(level % 2)) for level, part in runs)


def _weak(kinds: list[str], outer: str) -> None:
    """Apply W1 to W7 in place."""
    before, strong = outer, outer
    for index, kind in enumerate(kinds):
        if kind in ("NSM", "BN"):
            kinds[index] = kind = before
        if kind in STRONG:
            strong = kind
        elif kind == "EN" and strong == "AL":
            kinds[index] = "AN"
        before = kinds[index]
    kinds[:] = ["R" if kind == "AL" else kind for kind in kinds]
    for index in range(1, len(kinds) - 1):
        around = {kinds[index - 1], kinds[index + 1]}
        if (kinds[index] == "ES" and around == {"EN"}) or (
            kinds[index] == "CS" and around in ({"EN"}, {"AN"})
        ):
            kinds[index] = kinds[index - 1]
    for order in (range(len(kinds)), range(len(kinds) - 1, -1, -1)):
        last = ""
        for index in order:
            if kinds[index] == "ET" and last == "EN":
                kinds[index] = "EN"
            last = kinds[index]
    strong = outer
    for index, kind in enumerate(kinds):
        if kind in ("L", "R"):
            strong = kind
        elif kind == "EN" and strong == "L":
            kinds[index] = "L"
        elif kind not in NUMBERS:
            kinds[index] = "ON"


def _direction(kind: str) -> str | None:
    return "R" if kind in ("R", "EN", "AN") else "L" if kind == "L" else None


def _brackets(text: str, kinds: list[str], outer: str) -> None:
    """Apply N0: a pair of brackets takes the direction of its contents."""
    waiting: list[tuple[str, int]] = []
    pairs = []
    for index, char in enumerate(text):
        if kinds[index] != "ON":
            continue
        if char in _BRACKETS:
            waiting.append((_BRACKETS[char], index))
        elif any(closing == char for closing, _ in waiting):
            while waiting[-1][0] != char:
                waiting.pop()
            pairs.append((waiting.pop()[1], index))
    for start, end in sorted(pairs):
        inside = {found for kind in kinds[start + 1 : end] if (found := _direction(kind)) is not None}
        if outer in inside:
            taken = outer
        elif inside:
            before = (found for kind in reversed(kinds[:start]) if (found := _direction(kind)) is not None)
            opposite = "L" if outer == "R" else "R"
            taken = opposite if next(before, outer) == opposite else outer
        else:
            continue
        kinds[start] = kinds[end] = taken


def _neutrals(kinds: list[str], outer: str) -> None:
    """Apply N1 and N2: a neutral takes its neighbours' direction, else the paragraph's."""
    index = 0
    while index < len(kinds):
        if kinds[index] != "ON":
            index += 1
            continue
        end = index
        while end < len(kinds) and kinds[end] == "ON":
            end += 1
        left = _direction(kinds[index - 1]) if index else outer
        right = _direction(kinds[end]) if end < len(kinds) else outer
        kinds[index:end] = [left if left == right and left is not None else outer] * (end - index)
        index = end
