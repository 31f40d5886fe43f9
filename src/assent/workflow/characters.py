"""Single characters of a pattern: which ones a place accepts, and which one to write in an example.

Works on the nodes of the standard library's pattern parser.
"""

from __future__ import annotations

import re
import re._constants as sre  # type: ignore[import-not-found]
from collections.abc import Callable, Iterable
from typing import Any, Final

Test = Callable[[str], bool]


def is_word(char: str) -> bool:
    """Letters, digits and the underscore."""
    return char.isalnum() or char == "_"


_CATEGORIES: Final[dict[Any, Test]] = {
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_NOT_DIGIT: lambda char: not char.isdecimal(),
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    sre.CATEGORY_WORD: is_word,
    sre.CATEGORY_NOT_WORD: lambda char: not is_word(char),
}


def accepts(op: Any, argument: Any, flags: int) -> Test:
    """The test of one place of a pattern."""
    if op is sre.ANY:
        return (lambda _: True) if flags & re.DOTALL else (lambda char: char != "\n")
    members = [(op, argument)] if op is not sre.IN else list(argument)
    negate = members[0][0] is sre.NEGATE or op is sre.NOT_LITERAL
    tests = [_member(kind, value) for kind, value in members if kind is not sre.NEGATE]
    fold = bool(flags & re.IGNORECASE)

    def test(char: str) -> bool:
        faces = (char, char.lower(), char.upper()) if fold else (char,)
        return any(test(face) for face in faces for test in tests) is not negate

    return test


def _member(kind: Any, value: Any) -> Test:
    if kind is sre.CATEGORY:
        return _CATEGORIES[value]
    low, high = value if kind is sre.RANGE else (value, value)
    return lambda char: len(char) == 1 and low <= ord(char) <= high


_LIKELY: Final = "aA0 _-.:#*/\n"
A_WORD: Final = " and "
"""What stands where anything may stand: another text can be put there."""


def sample(tree: Iterable[Any], *, roomy: bool = False) -> str:
    """A short text that the tree is meant to match: the first choice everywhere.

    A roomy one has something also where nothing would do, and where anything may stand it has a word.
    """
    text = ""
    for op, argument in tree:
        match op:
            case sre.LITERAL:
                text += chr(argument)
            case sre.NOT_LITERAL | sre.ANY | sre.IN:
                fits = accepts(op, argument, 0)
                likely = _named(argument) if op is sre.IN else []
                text += next((char for char in (*_LIKELY, *likely) if fits(char)), "")
            case sre.SUBPATTERN:
                text += sample(argument[3], roomy=roomy)
            case sre.BRANCH:
                text += sample(argument[1][0], roomy=roomy)
            case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
                text += _repeated(*argument, roomy=roomy)
            case sre.ATOMIC_GROUP:
                text += sample(argument, roomy=roomy)
            case sre.ASSERT if argument[0] > 0:
                # What must be seen ahead is put there.
                text += sample(argument[1], roomy=roomy)
            case _:
                continue
    return text


def _repeated(least: int, most: Any, body: Any, *, roomy: bool) -> str:
    if roomy and int(most) >= len(A_WORD) and _takes_words(body):
        return A_WORD.ljust(min(int(least), 200), "x")
    return sample(body, roomy=roomy) * min(max(int(least), int(roomy)), 200)


def _takes_words(body: Any) -> bool:
    """Whether a part of a pattern is one place, and letters and blanks fit there."""
    ops = [op for op, _ in body]
    if len(ops) != 1 or ops[0] not in (sre.ANY, sre.IN, sre.NOT_LITERAL):
        return False
    return all(map(accepts(ops[0], body[0][1], 0), A_WORD))


def _named(members: Iterable[Any]) -> list[str]:
    """A character of each literal and each range of a set."""
    return [
        chr(value[0] if kind is sre.RANGE else value)
        for kind, value in members
        if kind in (sre.LITERAL, sre.RANGE)
    ]
