"""Authors' regular expressions: compiled when they are loaded, searched in time linear in the text.

Python's `re` backtracks, so that one short text can stop the server. Every pattern that a schema, a
function or a workflow declares is therefore searched by RE2, through `compile_pattern`. How it reads
a pattern is in docs/http-effects.md: `$` is the end of the text, and `\\w`, `\\d`, `\\s` and `\\b` are
about ASCII.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, Final

from assent.kernel.limits import MAX_REGEX_CHARS, MAX_REGEX_STATES

ASCII_ONLY: Final = (
    r"\w, \d and \s match ASCII only; \p{L} and \p{N} match letters and digits of every script"
)
"""What loading says about a pattern with one of them."""

_MEMORY_BYTES: Final = 4 << 20
"""RE2's program and cache of one pattern."""
_FLAGS: Final = "imsguyvd"
_LONE: Final = re.compile(r"(\^?)\(\?!(.*)\)", re.DOTALL)
"""A negative look-ahead and nothing else."""
_SHORTHAND: Final = re.compile(r"(?:[^\\]|\\[^wdsWDS])*+\\[wdsWDS]", re.DOTALL)
SET: Final = r"\\[pP](?:\{[^}]*\}|.)|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]"
_SETS: Final = re.compile(rf"{SET}|\\[wdsWDS]|\.|(\\.)", re.DOTALL)
"""One character of several; or, as a group, another escape."""
_SMALL: Final = (*range(1, 9), *range(14, 32), *range(0x100, 0x100 + MAX_REGEX_CHARS))
"""Characters that hardly a pattern has."""
_LACKING: Final = {
    "(?=": ("a look-ahead", "Write the parts in their order, or in two rules."),
    "(?!": (
        "a negative look-ahead beside other parts",
        "Alone, as (?!…) or ^(?!…), it means that the text does not contain it.",
    ),
    "(?<=": ("a look-behind", "Write what comes before as a part of the pattern."),
    "(?<!": ("a negative look-behind", "Write what comes before as a part of the pattern."),
    "(?>": ("an atomic group", "Write (?:…)."),
    "(?(": ("a conditional group", "Write out the alternatives."),
    "(?#": ("a comment", "Leave it out."),
    "(?P": ("a back reference", "Write out the alternatives."),
    r"\k": ("a back reference", "Write out the alternatives."),
    r"\1": ("a back reference", "Write out the alternatives."),
    "++": ("a possessive repetition", "Leave out its last +."),
    r"\Z": (r"\Z", "Write $, which is the end of the text only."),
    r"\u": (r"\u", r"Write the character, or \x{20AC}."),
    r"\Q": (r"\Q", r"Write \ before each character that is meant as it is."),
    r"\C": (r"\C, one byte", "Write . for a character, or (?s:.) if it may be a line break."),
}
"""What RE2 lacks, or reads otherwise than other engines: its name, and what to write instead."""


class BadPattern(ValueError):  # noqa: N818 - a state of the pattern
    """The pattern cannot be used; the message says why and what to write instead."""


class Pattern:
    """A compiled pattern, made by `compile_pattern`."""

    def __init__(self, source: str, flags: str) -> None:
        if len(source) > MAX_REGEX_CHARS:
            raise BadPattern(
                f"The pattern has {len(source)} characters; at most {MAX_REGEX_CHARS} are taken. Split it."
            )
        if unknown := sorted(set(flags) - set(_FLAGS)):
            raise BadPattern(f"Unknown flag {unknown[0]!r}; use i, m or s.")
        on = "".join(sorted({*flags} & {*"ims"}))
        self.is_negated = False
        if (lone := _LONE.fullmatch(source)) is not None:
            try:
                _compile(lone[2], "")  # its last bracket is the one that it opens with
            except BadPattern:
                pass  # refused as a whole
            else:
                self.is_negated, source = True, f"{lone[1]}(?:{lone[2]})"
        self._compiled, self.states = _compile(source, on)

    def search(self, text: str) -> bool:
        """Whether the pattern occurs in the text; for a lone negative look-ahead, whether it does not."""
        return (self._compiled.search(_encode(text)) is None) is self.is_negated

    def matches_whole(self, text: str) -> bool:
        """Whether the pattern describes the whole text, which a lone negative look-ahead never does."""
        return not self.is_negated and self._compiled.fullmatch(_encode(text)) is not None


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@functools.lru_cache(maxsize=128)
def compile_pattern(source: str, flags: str = "") -> Pattern:
    """Compile a pattern. Raises `BadPattern`."""
    return Pattern(source, flags)


def is_ascii_only(source: str) -> bool:
    """Whether a pattern has one of the classes that `ASCII_ONLY` is about."""
    return _SHORTHAND.match(source) is not None


def list_patterns(schema: Any) -> Iterator[str]:
    """Yield the patterns of a JSON Schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from list_patterns(part)


def _compile(source: str, flags: str) -> tuple[Any, int]:
    import re2  # imported only if there is a pattern

    options = re2.Options()
    options.max_mem = _MEMORY_BYTES
    options.never_capture = True
    options.log_errors = False
    try:
        found = re2.compile(f"(?{flags}){source}" if flags else source, options)
        size = re2.compile(_make_sets_small(source), options).programsize
    except re2.error as error:
        raise _refuse(error.args[0].decode(errors="replace")) from None
    if size > MAX_REGEX_STATES or found.reverseprogramsize < 0:
        raise BadPattern(
            f"The pattern is too large: it needs {size} states, and at most {MAX_REGEX_STATES} are taken. "
            "Use smaller repetitions, split it, or state the length apart (minLength, maxLength)."
        )
    return found, size


def _make_sets_small(source: str) -> str:
    """Return the pattern with one character instead of each set, for its size: the time of a search grows
    with the places in the pattern, however many ranges each of them has."""
    small: dict[str, str] = {}

    def replace(found: re.Match[str]) -> str:
        if found[1] in (r"\Q", r"\C"):
            raise _refuse(f"invalid escape sequence: {found[1]}")
        # Each set another one: RE2 joins alternatives that begin alike.
        return found[1] or small.setdefault(found[0], chr(_SMALL[len(small)]))

    return _SETS.sub(replace, source)


def _refuse(said: str) -> BadPattern:
    """Name what RE2 refused."""
    kind, _, part = said.partition(": ")
    if kind == "bad repetition operator" and part.endswith("+"):
        part = "++"
    if kind == "invalid escape sequence" and part[1:].isdigit():
        part = r"\1"
    if part not in _LACKING:
        return BadPattern(f"Not a regular expression that RE2 reads ({said}).")
    name, advice = _LACKING[part]
    return BadPattern(f"The pattern has {name}, which is not supported. {advice}")
