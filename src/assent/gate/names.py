"""What a decision over a review link is signed with, and which names nobody may give themselves there.

The agent holds the link too, so the server knows a link and no person. Pure.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

_OPENING: Final = "someone with the review link, calling themselves “"
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
"""Words that stand for a role or for the server, and not for a person."""

_LOOKALIKES: Final = str.maketrans(
    "\u0430\u0432\u0435\u0456\u0458\u043a\u043c\u043d\u043e\u0440\u0441\u0455\u0442\u0443\u0445\u0501"
    "\u051b\u051d\u04bb\u04cf\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9"
    "\u0131\u0261\u025101",
    "abeijkmhopcstyxdqwhlabeikvoptuxwigaol",
)
"""Letters that look like Latin ones, and digits that look like letters."""


def name_by_link(name: str) -> str:
    """How a decision over a link is stored and shown. A name that is stored so already stays."""
    return name if name.startswith(_OPENING) else f"{_OPENING}{name}{_CLOSING}"


def read_claim(by: str) -> str:
    """The name inside `name_by_link`; any other text as it is."""
    return by.removeprefix(_OPENING).removesuffix(_CLOSING) if by.startswith(_OPENING) else by


def is_taken(name: str, known: Iterable[str]) -> bool:
    """Whether a name reads like that of a known person, or like a role."""
    read = _skeleton(name)
    words = read.removeprefix("the")
    return words in _ROLE_SKELETONS or read in {_skeleton(each) for each in known}


def _skeleton(name: str) -> str:
    """Letters and digits alone, as they look: without case, accents, blanks and unseen characters."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    kept = "".join(char for char in apart if char.isalnum())
    return kept.translate(_LOOKALIKES)


_ROLE_SKELETONS: Final = frozenset(_skeleton(role) for role in ROLES)
