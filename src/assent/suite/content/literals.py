"""Finds the literals of a pattern: texts of which a match contains at least one.

Theory of operation

Why. The patterns of `risks` are long alternatives with look-behinds, and Python tries each of them at
every character: 0.4 ms for a short post, which was an eighth of preparing it. Looking for a word with
`in` takes 0.05 µs.

How. The pattern is parsed once, by the parser of `re`. A sequence needs all its parts, so the part
with the longest literals stands for it; an alternative needs one of its branches, so it has the
literals of all of them; what may be left out, a class of characters, and what is only looked at
(`\\b`, look-ahead, look-behind) need nothing. A pattern of which a part needs nothing everywhere has
no literals and is always searched.

Letters. Patterns ignore case, so both sides are folded. `fold` also joins the dotless i, which `re`
takes for an i and `casefold` does not.
"""

from __future__ import annotations

import re
from itertools import takewhile
from re import _constants as ops  # type: ignore[attr-defined]  # no public name
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

_REPEATS: Final = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)


def fold(text: str) -> str:
    return text.casefold().replace("ı", "i")


def find_literals(pattern: re.Pattern[str]) -> frozenset[str]:
    """Return the literals, folded; none if a match need not contain any."""
    return _needed(parser.parse(pattern.pattern, pattern.flags)) or frozenset()


def _needed(items: Any) -> frozenset[str] | None:
    found: list[frozenset[str]] = []
    run = ""
    for op, value in (*items, (None, None)):
        if op is ops.LITERAL:
            run += chr(value)
            continue
        before, run = run, ""
        if before:
            found.append(frozenset({fold(before)}))
        part: frozenset[str] | None = None
        if op is ops.SUBPATTERN:
            part = _needed(value[3])
        elif op is ops.BRANCH:
            # `re` takes the common beginning of all branches out of them.
            found.append(frozenset(fold(before + _read_start(branch)) for branch in value[1]))
            branches = [_needed(branch) for branch in value[1]]
            part = frozenset().union(*(each or () for each in branches)) if all(branches) else None
        elif op in _REPEATS and value[0] > 0:
            part = _needed(value[2])
        if part:
            found.append(part)
    return max((each for each in found if "" not in each), key=_weigh, default=None)


def _read_start(items: Any) -> str:
    return "".join(chr(value) for _, value in takewhile(lambda item: item[0] is ops.LITERAL, items))


def _weigh(literals: frozenset[str]) -> tuple[int, int]:
    """How rarely a text has one of the literals: by the shortest, and by their number. A digit is rarer
    than two letters."""
    return min(len(each.strip()) + 2 * each.isdigit() for each in literals), -len(literals)
