"""Breaks a text into lines that fill a box, at the largest size at which every word is whole and
inside.

Lines break where the script allows it: at blanks, after hyphens, and between Chinese and Japanese
characters, there preferably after a phrase. A text is never cut, never leaves its box and is never
too small for a phone. If it does not fit, the result says how much would.

Widths come from a function of the text, in units of the letter size.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Final

from assent.platform.values import Record
from assent.suite.content import counting

Measure = Callable[[str], float]
"""Returns the width of a text in units of the letter size."""

STEPS: Final = 40

GOOD, FAIR, POOR = 0, 1, 3
"""The cost of a line break: after a word, after a phrase, inside a phrase."""

_NO_START: Final = frozenset(
    "、。，．・：；？！ー」』）］｝〉》】〕…‥々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ%％°!?,.:;)]}”’"
)
"""Characters that begin no line (Japanese typesetting, also good elsewhere)."""
_NO_END: Final = frozenset("「『（［｛〈《【〔([{“‘¥$£€#＃")
_PARTICLES: Final = frozenset("のはがにでともへやを")
_AFTER_WORD: Final = frozenset("-‐–—/・、。，！？：；")


class Box(Record):
    width: float
    height: float
    largest: float
    smallest: float
    line_height: float
    most_lines: int = 6


class Fitted(Record):
    """Lines in logical order without trailing blanks, and the letter size."""

    lines: tuple[str, ...]
    size: float
    line_height: float

    @property
    def height(self) -> float:
        return self.size * self.line_height * len(self.lines)


class TooLong(Record):
    """A text too long for a legible size: how many characters fit, or the widest word."""

    most: int
    word: str = ""
    is_name: bool = False
    """Whether the text is the brand's name instead of the headline."""


class _Piece(Record):
    """Text without line breaks inside, its width with and without the blank after it, and the cost
    of a break after it."""

    text: str
    width: float
    bare: float
    cost: int


def fit(text: str, box: Box, measure: Measure) -> Fitted | TooLong:
    """Return the largest lines that fit; breaks inside a phrase are the last resort."""
    pieces = _pieces(text, measure)
    for worst in (FAIR, POOR):
        joined = _join_costly(pieces, worst, measure)
        smallest = max(box.smallest, box.largest * 0.6) if worst == FAIR else box.smallest
        for step in range(STEPS + 1):
            size = box.largest - (box.largest - smallest) * step / STEPS
            lines = _lines(joined, box, size)
            if lines is not None:
                return Fitted(lines, size, box.line_height)
    return _too_long(pieces, box)


def _pieces(text: str, measure: Measure) -> list[_Piece]:
    found: list[_Piece] = []
    clusters = list(counting.clusters(text))
    held: list[str] = []
    for index, cluster in enumerate(clusters):
        held.append(cluster)
        cost = _cost(clusters, index)
        if cost is not None:
            whole = "".join(held)
            found.append(_Piece(whole, measure(whole), measure(whole.rstrip()), cost))
            held = []
    return found


def _cost(clusters: Sequence[str], index: int) -> int | None:
    """Return the cost of a line break after a character; None if no break is allowed there."""
    if index + 1 == len(clusters):
        return GOOD
    before, after = clusters[index], clusters[index + 1]
    if before.isspace():
        return None if after.isspace() else GOOD
    if after.isspace() or after in _NO_START or before in _NO_END:
        return None
    if before in _AFTER_WORD and not after.isdigit():
        return GOOD
    one, two = _script(before), _script(after)
    if one == two == "katakana" or not {one, two} & {"kanji", "hiragana", "katakana"}:
        return None
    if before == "を":
        return FAIR
    if one != "hiragana" or two == "hiragana":
        return POOR
    # A Japanese phrase ends with hiragana, and the next begins with another script. But a compound
    # verb has a single hiragana inside, which is no particle.
    inside = index > 0 and _script(clusters[index - 1]) != "hiragana" and before not in _PARTICLES
    return POOR if inside else FAIR


def _script(cluster: str) -> str:
    point = ord(cluster[0])
    if 0x3041 <= point <= 0x309F:
        return "hiragana"
    if 0x30A0 <= point <= 0x30FF or 0xFF66 <= point <= 0xFF9F:
        return "katakana"
    return "kanji" if unicodedata.east_asian_width(cluster[0]) in ("W", "F") else "other"


def _join_costly(pieces: Sequence[_Piece], worst: int, measure: Measure) -> list[_Piece]:
    """Join the pieces between which a break costs more than `worst`."""
    found: list[_Piece] = []
    held = ""
    for piece in pieces:
        held += piece.text
        if piece.cost <= worst:
            found.append(_Piece(held, measure(held), measure(held.rstrip()), piece.cost))
            held = ""
    return found


def _lines(pieces: Sequence[_Piece], box: Box, size: float) -> tuple[str, ...] | None:
    """Break the text into the fewest lines, with even ends; None if it does not fit."""
    width = box.width / size
    most = min(box.most_lines, int(box.height / (size * box.line_height) + 0.001))
    if most < 1 or any(piece.bare > width for piece in pieces):
        return None
    # best[i]: number of lines, raggedness and start of the last line for the text up to piece i.
    best: list[tuple[int, float, int]] = [(0, 0.0, 0)]
    for end in range(1, len(pieces) + 1):
        options = []
        length = pieces[end - 1].bare
        for start in range(end - 1, -1, -1):
            if start < end - 1:
                length += pieces[start].width
            if length > width:
                break
            lines, ragged, _ = best[start]
            rest = (width - length) / width
            cost = ragged + rest * rest + 0.25 * pieces[end - 1].cost * (end < len(pieces))
            options.append((lines + 1, cost, start))
        if not options:
            return None
        best.append(min(options))
    if best[-1][0] > most:
        return None
    found: list[str] = []
    end = len(pieces)
    while end:
        start = best[end][2]
        found.append("".join(piece.text for piece in pieces[start:end]).strip())
        end = start
    return tuple(reversed(found))


def _too_long(pieces: Sequence[_Piece], box: Box) -> TooLong:
    """Return how much of the text fits at the smallest size."""
    wide = next((piece for piece in pieces if piece.bare * box.smallest > box.width), None)
    for count in range(len(pieces) - 1, 0, -1):
        if _lines(pieces[:count], box, box.smallest) is not None:
            kept = "".join(piece.text for piece in pieces[:count]).strip()
            return TooLong(counting.graphemes(kept), wide.text.strip() if wide is not None else "")
    return TooLong(0, wide.text.strip() if wide is not None else "")
