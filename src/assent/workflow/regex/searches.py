"""Searches a pattern without look-around with RE2: a hundred kilobytes in a millisecond.

RE2's letters and digits differ from Python's, and its words are ASCII only. So RE2 gets no
characters: a text is translated into the classes that its pattern distinguishes, one byte each, by
Python's rules, and RE2 searches these bytes.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any, Final

from assent.workflow.regex.characters import CLASSES, is_word
from assent.workflow.regex.syntax import (
    Anchor,
    CharacterSet,
    Choice,
    Node,
    Repetition,
    Sequence,
    list_parts,
)

_MEMORY_BYTES: Final = 4 << 20
"""RE2's cache per pattern."""
_EDGES: Final = {"begin": r"\A", "end": r"\z", "boundary": r"\b", "inside": r"\B"}
_LINES: Final = {"begin": "(?m:^)", "end": "(?m:$)"}
_SAMPLES: Final = ("0", "a", " ", "-")
"""One character per class: a digit, another word character, a blank, and any other."""
_WORD_BYTES: Final = bytes(code for code in range(128) if is_word(chr(code)))
_OTHER_BYTES: Final = bytes(code for code in range(256) if code not in _WORD_BYTES and code != 10)
_LINE_BREAK: Final = 10
_MOST_KEPT: Final = 4_000
_LAST_CASED: Final = 0x1E943


class TooManyKinds(ValueError):  # noqa: N818 - a state of the pattern
    """A pattern distinguishes more classes of characters than there are bytes."""


class Alphabet(dict[int, int]):
    """Maps characters to classes; as a dictionary it is a table for `str.translate`."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        super().__init__()
        nodes = list(nodes)
        edges = [node for node in nodes if isinstance(node, Anchor)]
        self._places = list(dict.fromkeys(node for node in nodes if isinstance(node, CharacterSet)))
        self._words = any(edge.kind in ("boundary", "inside") for edge in edges)
        self._lines = any(edge.lines for edge in edges)
        self._by_class = self._words or any(place.classes for place in self._places)
        ranges = [_fold_case(place.ranges) if place.fold else place.ranges for place in self._places]
        lines = [((_LINE_BREAK, _LINE_BREAK),)] if self._lines else []
        self._bounds = sorted(
            {0, *(end for each in (*ranges, *lines) for low, high in each for end in (low, high + 1))}
        )
        self._spans = [[self._span(*each) for each in listed] for listed in ranges]
        self._kinds = self._number()
        self._ascii = bytes(self._kind(code) if code < 128 else 0 for code in range(256))

    def _span(self, low: int, high: int) -> tuple[int, int]:
        return bisect_right(self._bounds, low) - 1, bisect_right(self._bounds, high) - 1

    def _number(self) -> dict[tuple[int, int], int]:
        """Assign a byte to each class: characters between two bounds with the same tests are one
        class."""
        words, others = iter(_WORD_BYTES), iter(_OTHER_BYTES)
        self._accepted: dict[CharacterSet, list[int]] = {place: [] for place in self._places}
        made: dict[tuple[tuple[bool, ...], bool, bool], int] = {}
        numbered: dict[tuple[int, int], int] = {}
        for index in range(len(self._bounds)):
            for group, char in self._samples(index):
                taken = tuple(
                    (
                        any(low <= index <= high for low, high in spans)
                        or any(CLASSES[name](char) for name in place.classes)
                    )
                    is not place.negate
                    for place, spans in zip(self._places, self._spans, strict=True)
                )
                breaks = self._lines and self._bounds[index] == _LINE_BREAK
                word = self._words and is_word(char)
                key = (taken, word, breaks)
                if key not in made:
                    # If the pattern does not distinguish words, their bytes are free for other
                    # classes.
                    free = words if word or not self._words else others
                    made[key] = byte = _LINE_BREAK if breaks else self._next(free, others)
                    for place, accepted in zip(self._places, taken, strict=True):
                        if accepted:
                            self._accepted[place].append(byte)
                numbered[index, group] = made[key]
        return numbered

    def _samples(self, index: int) -> list[tuple[int, str]]:
        """Return a sample per class between two bounds; if they enclose a single character, that
        one."""
        if not self._by_class:
            return [(0, _SAMPLES[-1])]
        if self._bounds[index + 1 : index + 2] == [self._bounds[index] + 1]:
            alone = chr(self._bounds[index])
            return [(_group(alone), alone)]
        return list(enumerate(_SAMPLES))

    def _next(self, first: Iterable[int], others: Iterable[int]) -> int:
        sources = (first,) if self._words else (first, others)
        for source in sources:
            for byte in source:
                return byte
        raise TooManyKinds

    def _kind(self, code: int) -> int:
        return self._kinds[bisect_right(self._bounds, code) - 1, _group(chr(code)) if self._by_class else 0]

    def __missing__(self, code: int) -> int:
        kind = self._kind(code)
        if len(self) < _MOST_KEPT:
            self[code] = kind
        return kind

    def encode(self, text: str) -> bytes:
        """Translate a text into classes, one byte per character."""
        if text.isascii():
            return text.encode().translate(self._ascii)
        if (packed := _pack(text)) is not None:
            chars, coded = packed
            return coded.translate(bytes(self[ord(char)] for char in chars).ljust(256, b"\0"))
        return text.translate(self).encode("latin-1")

    def list_accepted(self, place: CharacterSet) -> list[int]:
        """Return the classes that a character set of the pattern accepts."""
        return sorted({*self._accepted[place]})


@functools.lru_cache(maxsize=4)
def _pack(text: str) -> tuple[list[str], bytes] | None:
    """Encode a text with few different characters as their numbers, once for all its patterns."""
    chars = sorted(set(text))
    if len(chars) > 256:
        return None
    return chars, text.translate({ord(char): number for number, char in enumerate(chars)}).encode("latin-1")


def _group(char: str) -> int:
    return 0 if char.isdecimal() else 1 if is_word(char) else 2 if char.isspace() else 3


def _fold_case(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Extend ranges by the other case of every character."""
    others = _find_other_cases()
    cased = sorted(others)
    more = {
        other
        for low, high in ranges
        for code in cased[bisect_right(cased, low - 1) : bisect_right(cased, high)]
        for other in others[code]
        if not any(begin <= other <= end for begin, end in ranges)
    }
    return (*ranges, *_join_ranges(sorted(more)))


def _join_ranges(codes: Iterable[int]) -> list[tuple[int, int]]:
    """Join sorted numbers into ranges."""
    found: list[tuple[int, int]] = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


@functools.cache
def _find_other_cases() -> dict[int, frozenset[int]]:
    """Return, for every letter with a case, its other cases."""
    groups: dict[str, set[str]] = {}
    for char in map(chr, range(_LAST_CASED + 1)):
        lower, upper = char.lower(), char.upper()
        if lower == upper == char:
            continue
        faces = {char} | {face for face in (lower, upper) if len(face) == 1}
        whole = set[str]().union(faces, *(groups[face] for face in faces if face in groups))
        for face in whole:
            groups[face] = whole
    return {
        ord(char): frozenset(map(ord, group - {char})) for char, group in groups.items() if len(group) > 1
    }


def search_by_re2(tree: Sequence) -> Callable[[str], bool] | None:
    """Return the search of a pattern without look-around; None if it distinguishes too many
    characters."""
    import re2  # imported only if a rule has a pattern

    try:
        alphabet = Alphabet(list_parts(tree))
    except TooManyKinds:
        return None
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = _MEMORY_BYTES
    options.never_capture = True
    options.log_errors = False
    try:
        found: Any = re2.compile(_write(tree, alphabet).encode(), options)
    except re2.error:  # too large for RE2
        return None
    return lambda text: found.search(alphabet.encode(text)) is not None


def _write(node: Node, alphabet: Alphabet) -> str:
    match node:
        case CharacterSet():
            return _set(alphabet.list_accepted(node))
        case Sequence():
            return "".join(_write(part, alphabet) for part in node.parts)
        case Choice():
            return f"(?:{'|'.join(_write(each, alphabet) for each in node.choices)})"
        case Repetition():
            body = _write(node.body, alphabet)
            most = "" if node.most is None else node.most
            return f"(?:{body}){{{node.least},{most}}}" if body else ""
        case Anchor():
            return (_LINES if node.lines else _EDGES)[node.kind]
        case _:
            raise ValueError("a pattern that looks around is not for RE2")


def _set(kinds: list[int]) -> str:
    if not kinds:
        return r"[^\x00-\xff]"
    return "[" + "".join(rf"\x{low:02x}-\x{high:02x}" for low, high in _join_ranges(kinds)) + "]"
