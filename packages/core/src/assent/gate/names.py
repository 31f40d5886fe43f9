"""The names of people who decide, and the names that no one may take.

The agent holds a review link too, so the server knows only the link, not the person. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from assent.kernel.texts import fold_name, replace_unseen, write_name

OPENING: Final = "someone with the review link, calling themselves “"
_CLOSING: Final = "”"

ROLES: Final = (
    "admin",
    "administrator",
    "approver",
    "assent",
    "member",
    "operator",
    "owner",
    "reviewer",
    "root",
    "server",
    "system",
)
"""Words for a role or the server instead of a person."""

UNSEEN: Final = ("Cf", "Mn", "Me")
"""Categories of characters that part a word for a program and not for a reader."""
UNSEEN_MARK: Final = "\u200b"

_LOOKALIKES: Final = str.maketrans(
    "\u0430\u0432\u0435\u0456\u0458\u043a\u043c\u043d\u043e\u0440\u0441\u0455\u0442\u0443\u0445\u0501"
    "\u051b\u051d\u04bb\u04cf\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9"
    "\u0131\u0261\u025101",
    "abeijkmhopcstyxdqwhlabeikvoptuxwigaol",
)
"""Letters that look like Latin ones, and digits that look like letters."""
_STROKES: Final = str.maketrans("i|", "ll")
"""In most typefaces a large I looks like a small l; this is too coarse for the texts of a rule."""
_SERVER: Final = "assent"
_SPACED: Final = re.compile(r"(?<=\b\w)\s+(?=\w\b)")
"""What parts letters that stand alone."""


def name_with_address(name: str, email: str | None) -> str:
    """Return `Ada Lovelace <ada@example.org>`, which distinguishes people of the same name."""
    return f"{name} <{email}>" if email and email != name else name


def name_by_link(name: str) -> str:
    """Mark a name as given over a link. A marked name is returned unchanged."""
    return name if name.startswith(OPENING) else f"{OPENING}{name}{_CLOSING}"


def read_claim(by: str) -> str:
    """Return the name inside `name_by_link`; other text unchanged."""
    return by.removeprefix(OPENING).removesuffix(_CLOSING) if by.startswith(OPENING) else by


def is_taken(name: str, known: Iterable[tuple[str, str | None]]) -> bool:
    """Whether a name looks like the name or the address of a known person, or like a role, or is not seen whole. The
    brackets mark an address."""
    read = _skeleton(name)
    known_names = (
        each for who, email in known for each in (who, email or who, name_with_address(who, email))
    )
    is_odd = name != write_name(name) or not {*"<>"}.isdisjoint(name)
    is_role = any(_is_alike(read.removeprefix("the"), each) for each in _ROLE_SKELETONS)
    return is_odd or is_role or any(_is_alike(read, _skeleton(each)) for each in known_names)


def fold_lookalikes(text: str) -> str:
    """Return the form in which texts are compared that may be written to look like another."""
    return fold_name(text).translate(_LOOKALIKES)


def names_server(text: str) -> bool:
    """Whether a word of a text begins with this server's name, or looks as if it did."""
    apart = unicodedata.normalize("NFKC", text)
    marked = "".join(UNSEEN_MARK if unicodedata.category(each) in UNSEEN else each for each in apart)
    # Something unseen may be inside a word, or before it.
    read = " ".join(replace_unseen(marked, instead) for instead in ("", " "))
    joined = _SPACED.sub("", read)
    # A word may be parted by marks, or written letter by letter.
    words = (*re.findall(r"[^\W_]+", read), *read.split(), *joined.split())
    return any(_is_alike(_skeleton(word)[: len(_SERVER)], _SERVER) for word in words)


def _is_alike(one: str, other: str) -> bool:
    """Whether two skeletons are the same, but for letters of which no Latin one is known: beside Latin letters such a
    letter is there for its looks."""
    if len(one) != len(other):
        return False
    pairs = list(zip(one, other, strict=True))
    same = sum(first == second for first, second in pairs)
    return 3 * same >= 2 * len(pairs) and all(
        first == second or first.isascii() != second.isascii() for first, second in pairs
    )


def _skeleton(name: str) -> str:
    """Return a confusable skeleton: letters and digits without case, accents and blanks. Strokes are one letter."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    return "".join(char for char in apart.translate(_LOOKALIKES).translate(_STROKES) if char.isalnum())


_ROLE_SKELETONS: Final = frozenset(_skeleton(role) for role in ROLES)
