"""Says at once which of many patterns of `re` may occur in a text, so that only those are searched for.

RE2 looks for all of them in one pass. It has no look-around, so each pattern is taken without: that finds more texts,
and never fewer. Its classes are about ASCII, so any other text may have every pattern.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

_MEMORY_BYTES: Final = 16 << 20
_PART: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])+\]|\(\?<?[=!]|[()]|[^\\\[()]+", re.DOTALL)
"""A part of a pattern: an escape, a set, the start of a look-around, a bracket, or what is between."""
_LOOK_AROUND: Final = ("(?=", "(?!", "(?<=", "(?<!")


class PatternSet:
    """Patterns that ignore case."""

    def __init__(self, sources: Sequence[str]) -> None:
        import re2  # imported at the first text: few processes have one

        options = re2.Options()
        options.case_sensitive = False
        options.max_mem = _MEMORY_BYTES
        options.log_errors = False
        self._set: Any = re2.Set.SearchSet(options)
        self._all = range(len(sources))
        for source in sources:
            self._set.Add(without_look_around(source))
        self._set.Compile()

    def list_possible(self, text: str) -> Sequence[int]:
        """Return the places of the patterns that may occur in the text, in their order."""
        if not (text.isascii() and text.isprintable()):
            return self._all
        return sorted(self._set.Match(text) or ())


def without_look_around(source: str) -> str:
    kept: list[str] = []
    depth = 0
    """Of the brackets inside a look-around."""
    for part in _PART.findall(source):
        if depth or part in _LOOK_AROUND:
            depth += part.startswith("(") - (part == ")")
        else:
            kept.append(part)
    return "".join(kept)
