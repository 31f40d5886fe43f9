"""Compiles authors' regular expressions to searches that are linear in the text.

Python's engine backtracks, and a workflow file must not be able to stall the server. So patterns
are parsed here (`syntax`) and searched by RE2 (`searches`). Look-around, which RE2 lacks, runs on
our own finite automaton (`automata`) over short texts. Programs older than RE2 support run on the
automaton alone.
"""

from __future__ import annotations

import functools
from typing import Final, Literal

from assent.kernel.limits import MAX_LOOK_AROUND_CHARS, MAX_REGEX_CHARS
from assent.workflow.issues import quote
from assent.workflow.regex.automata import Automaton
from assent.workflow.regex.characters import sample
from assent.workflow.regex.searches import search_by_re2
from assent.workflow.regex.syntax import BadPattern, Lookaround, Sequence, list_parts, parse

Engine = Literal["automaton", "re2"]

_FLAGS: Final = "imsguyvd"


class TextTooLong(ValueError):  # noqa: N818 - a state of the text
    """The text is too long for this pattern; the message says why and what to do."""


class Pattern:
    """A compiled pattern, made by `compile_pattern`."""

    def __init__(self, source: str, flags: str, engine: Engine) -> None:
        self.tree = _parse(source, flags)
        self._automaton = Automaton(self.tree, backwards=False)  # also bounds the size of a pattern
        self._source = source
        self._most_chars = MAX_LOOK_AROUND_CHARS if engine == "re2" else None
        self._looks = any(isinstance(part, Lookaround) for part in list_parts(self.tree))
        self._search = search_by_re2(self.tree) if engine == "re2" and not self._looks else None

    def search(self, text: str) -> bool:
        """Whether the pattern occurs in the text. Raises `TextTooLong`."""
        if self._search is not None:
            return self._search(text)
        if self._most_chars is not None and len(text) > self._most_chars:
            why = "looks ahead or behind" if self._looks else "names very many different characters"
            raise TextTooLong(
                f"The pattern {quote(self._source)} {why}, so it is applied to at most "
                f"{self._most_chars} characters; this text has {len(text)}. Shorten it."
            )
        return self._automaton.run(text, first=True)[0]

    def sample(self, *, roomy: bool = False) -> str:
        """Return a short text that should match. The caller checks it."""
        return sample(self.tree, roomy=roomy)


@functools.lru_cache(maxsize=128)
def compile_pattern(source: str, flags: str = "", engine: Engine = "re2") -> Pattern:
    """Compile a pattern. Raises `BadPattern`."""
    return Pattern(source, flags, engine)


def _parse(source: str, flags: str) -> Sequence:
    if len(source) > MAX_REGEX_CHARS:
        raise BadPattern(
            f"The pattern has {len(source)} characters; at most {MAX_REGEX_CHARS} are taken. Split it."
        )
    if unknown := sorted(set(flags) - set(_FLAGS)):
        raise BadPattern(f"Unknown flag {quote(unknown[0])}; use i, m or s.")
    return parse(source, flags)
