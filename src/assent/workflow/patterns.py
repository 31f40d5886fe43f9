"""Regular expressions of authors, matched in time linear in the text.

The standard engine backtracks, and a file from anywhere must not be able to stop the server. So a pattern is parsed
by the standard parser and run as a finite automaton (`automata`). What no finite automaton can do (back references,
conditional groups) is refused by name.
"""

from __future__ import annotations

import functools
import re
import re._parser as parser  # type: ignore[import-not-found]
from typing import Any, Final

from assent.kernel.limits import MAX_REGEX_CHARS
from assent.workflow.automata import Automaton, BadPattern
from assent.workflow.characters import sample
from assent.workflow.issues import shown

_FLAGS: Final = {
    "i": re.IGNORECASE,
    "m": re.MULTILINE,
    "s": re.DOTALL,
    "g": 0,
    "u": 0,
    "y": 0,
    "v": 0,
    "d": 0,
}
_NAMED: Final = re.compile(r"\(\?<(?![=!])")


class Pattern:
    """A pattern ready to search. Made by `compiled`."""

    def __init__(self, source: str, flags: str) -> None:
        self.tree = _parse(source, flags)
        self._build = Automaton(self.tree, backwards=False)

    def search(self, text: str) -> bool:
        """Whether the pattern occurs anywhere in the text."""
        return self._build.run(text, first=True)[0]

    def sample(self, *, roomy: bool = False) -> str:
        """A short text that is meant to match: the first choice everywhere. The caller checks it."""
        return sample(self.tree, roomy=roomy)


@functools.lru_cache(maxsize=256)
def compiled(source: str, flags: str = "") -> Pattern:
    """The pattern for a source, or `BadPattern`."""
    return Pattern(source, flags)


def _parse(source: str, flags: str) -> Any:
    if len(source) > MAX_REGEX_CHARS:
        raise BadPattern(
            f"The pattern has {len(source)} characters; at most {MAX_REGEX_CHARS} are taken. Split it."
        )
    if unknown := sorted(set(flags) - set(_FLAGS)):
        raise BadPattern(f"Unknown flag {shown(unknown[0])}; use i, m or s.")
    number = functools.reduce(lambda total, flag: total | int(_FLAGS[flag]), flags, 0)
    try:
        return parser.parse(_NAMED.sub("(?P<", source), number)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(
            f"Not a regular expression: {error}. Write it in the common syntax of Python and JavaScript."
        )


__all__ = ["BadPattern", "Pattern", "compiled"]
