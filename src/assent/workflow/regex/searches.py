"""Searches a pattern without look-around with RE2: a hundred kilobytes in a millisecond."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from assent.workflow.regex.alphabets import Alphabet, TooManyKinds, join_ranges
from assent.workflow.regex.syntax import (
    Anchor,
    CharacterSet,
    Choice,
    Node,
    Repetition,
    Sequence,
    parts_of,
)

_MEMORY_BYTES: Final = 4 << 20
"""RE2's cache per pattern."""
_EDGES: Final = {"begin": r"\A", "end": r"\z", "boundary": r"\b", "inside": r"\B"}
_LINES: Final = {"begin": "(?m:^)", "end": "(?m:$)"}


def search_by_re2(tree: Sequence) -> Callable[[str], bool] | None:
    """Return the search of a pattern without look-around; None if it distinguishes too many characters."""
    import re2  # imported only if a rule has a pattern

    try:
        alphabet = Alphabet(parts_of(tree))
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
    return lambda text: found.search(alphabet.written(text)) is not None


def _write(node: Node, alphabet: Alphabet) -> str:
    match node:
        case CharacterSet():
            return _set(alphabet.accepted(node))
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
    return "[" + "".join(rf"\x{low:02x}-\x{high:02x}" for low, high in join_ranges(kinds)) + "]"
