"""Single characters of a pattern: the test of a character set, and a sample for examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from assent.workflow.regex.syntax import CharacterSet, Choice, Lookaround, Repetition, Sequence

Test = Callable[[str], bool]


def is_word(char: str) -> bool:
    """Whether a character is a letter, a digit or the underscore."""
    return char.isalnum() or char == "_"


CLASSES: Final[dict[str, Test]] = {
    "d": str.isdecimal,
    "D": lambda char: not char.isdecimal(),
    "s": str.isspace,
    "S": lambda char: not char.isspace(),
    "w": is_word,
    "W": lambda char: not is_word(char),
}
"""As in Python's `re`: letters and digits of every script."""


def accepts(place: CharacterSet, *, fold: bool = True) -> Test:
    """Return the test of a character set."""
    tests = [CLASSES[name] for name in place.classes]
    folded = fold and place.fold

    def test(char: str) -> bool:
        faces = (char, char.lower(), char.upper()) if folded else (char,)
        found = any(
            any(check(face) for check in tests)
            or (len(face) == 1 and any(low <= ord(face) <= high for low, high in place.ranges))
            for face in faces
        )
        return found is not place.negate

    return test


_LIKELY: Final = "aA0 _-.:#*/\n"
A_WORD: Final = " and "
"""The sample for a place where any text matches, so that another text can be inserted."""


def sample(tree: Sequence, *, roomy: bool = False) -> str:
    """Return a short text that the tree should match: the first choice everywhere.

    A roomy sample fills optional parts too, and has a word where any text matches.
    """
    text = ""
    for part in tree.parts:
        match part:
            case CharacterSet():
                text += _character(part)
            case Sequence():
                text += sample(part, roomy=roomy)
            case Choice():
                text += sample(part.choices[0], roomy=roomy)
            case Repetition():
                text += _sample_repeat(part, roomy=roomy)
            case Lookaround(ahead=True, wanted=True):
                # The text of a look-ahead is inserted.
                text += sample(part.body, roomy=roomy)
            case _:
                continue
    return text


def _character(place: CharacterSet) -> str:
    fits = accepts(place, fold=False)
    named = [chr(low) for low, _ in place.ranges]
    literal = (
        len(place.ranges) == 1 and len({*place.ranges[0]}) == 1 and not place.classes and not place.negate
    )
    return next((char for char in (named if literal else [*_LIKELY, *named]) if fits(char)), "")


def _sample_repeat(part: Repetition, *, roomy: bool) -> str:
    most = len(A_WORD) if part.most is None else part.most
    if roomy and most >= len(A_WORD) and _takes_words(part.body):
        return A_WORD.ljust(min(part.least, 200), "x")
    return sample(part.body, roomy=roomy) * min(max(part.least, int(roomy)), 200)


def _takes_words(body: Sequence) -> bool:
    """Whether a part of a pattern is a single character set that accepts letters and blanks."""
    if len(body.parts) == 1 and isinstance(body.parts[0], Sequence):
        return _takes_words(body.parts[0])
    return (
        len(body.parts) == 1
        and isinstance(body.parts[0], CharacterSet)
        and all(map(accepts(body.parts[0], fold=False), A_WORD))
    )
