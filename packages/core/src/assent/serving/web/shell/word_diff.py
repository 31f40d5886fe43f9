"""Word diff of two texts. Pure.

Lines are matched first, and words only within changed lines. That keeps a long text with one
changed word readable and cheap. The work is bounded by a budget of steps: when it is exhausted, the
remainder is shown as replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from assent.kernel.structs import Record
from assent.serving.web.review.matching import Steps, compare

Change = Literal["same", "added", "removed"]

MAX_WORDS: Final = 800
"""A passage with more words is shown as replaced."""

MAX_LINES: Final = 5_000
"""Limit of lines that are matched."""

PAGE_STEPS: Final = 1_000_000
"""Comparisons for all the differences of one page: about a tenth of a second."""

_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]", re.UNICODE)
_SAYS: Final = re.compile(r"\w")


class Piece(Record):
    """Text that is in both versions, only in the new one or only in the old one."""

    change: Change
    text: str


class LabelledDiff(Record):
    label: str
    pieces: tuple[Piece, ...]


def word_diff(old: str, new: str, steps: Steps | None = None) -> tuple[Piece, ...]:
    """Removed text precedes its replacement. The diffs of a page share `steps`."""
    if old == new:
        return (Piece("same", new),) if new else ()
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if max(len(before), len(after)) > MAX_LINES:
        return _join(iter((Piece("removed", old), Piece("added", new))))
    return _join(_by_line(before, after, steps or Steps(PAGE_STEPS)))


def differs(pieces: tuple[Piece, ...]) -> bool:
    return any(piece.change != "same" for piece in pieces)


def _by_line(before: list[str], after: list[str], steps: Steps) -> Iterator[Piece]:
    for op, a, b, c, d in compare(before, after, steps):
        if op == "equal":
            yield Piece("same", "".join(after[c:d]))
        else:
            yield from _by_word("".join(before[a:b]), "".join(after[c:d]), steps)


def _by_word(old: str, new: str, steps: Steps) -> Iterator[Piece]:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if not before or not after or max(len(before), len(after)) > MAX_WORDS:
        yield Piece("removed", old)
        yield Piece("added", new)
        return
    removed = added = gap = ""
    for op, a, b, c, d in compare(before, after, steps):
        here, there = "".join(before[a:b]), "".join(after[c:d])
        if op != "equal":
            removed, added, gap = removed + gap + here, added + gap + there, ""
        elif (removed or added) and not _SAYS.search(here):
            # White space or a comma between two changes is not common text: the change continues
            # across it.
            gap += here
        else:
            yield from (Piece("removed", removed), Piece("added", added), Piece("same", gap + here))
            removed = added = gap = ""
    yield from (Piece("removed", removed), Piece("added", added), Piece("same", gap))


def _join(pieces: Iterator[Piece]) -> tuple[Piece, ...]:
    """Merge neighbours of one kind and drop empty pieces."""
    joined: list[Piece] = []
    for piece in pieces:
        if not piece.text:
            continue
        if joined and joined[-1].change == piece.change:
            joined[-1] = Piece(piece.change, joined[-1].text + piece.text)
        else:
            joined.append(piece)
    return tuple(joined)
