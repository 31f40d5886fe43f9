"""Values as short or readable text."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

import msgspec

_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that are invisible or change the direction, without those that scripts and emoji need."""
_JOINING: Final = re.compile("[\u200c\u200d\ufe00-\ufe0f\ufffc\ue000-\uf8ff\U000f0000-\U0010ffff]")
"""Those, and characters of private use."""


def truncate(text: str, most: int) -> str:
    """Return at most `most` characters of a text; a cut one ends with an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def to_text(value: Any) -> str:
    """Return a text as it is, any other value as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def indent_json(value: Any) -> str:
    """Write a value as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def quote(value: object, limit: int = 60) -> str:
    """Quote a value for a message: short, on one line, without control characters."""
    text = value if isinstance(value, str) else _as_json(value)
    text = "".join(char if char.isprintable() else " " for char in text[: limit + 1])
    quoted = f'"{text[:limit]}{"…" if len(text) > limit else ""}"'
    return quoted if isinstance(value, str) else quoted[1:-1]


def _as_json(value: object) -> str:
    """Write a value as JSON: null and true, not None and True."""
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def name_unseen(text: str) -> str:
    """Return a text with `⟨U+202E⟩` instead of characters that are invisible or change the direction."""
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def replace_unseen(text: str, instead: str) -> str:
    """Return a text with another one instead of each character that is invisible or of private use."""
    return _JOINING.sub(instead, _UNSEEN.sub(instead, text))


def fold_name(name: str) -> str:
    """Return the form in which names are compared. Case, compatible forms of a character, white space and unseen
    characters make no difference."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return write_name(_JOINING.sub("", folded))


def write_name(name: str) -> str:
    """Return a name as one line without unseen characters, as mails and lists show it."""
    return " ".join(_UNSEEN.sub("", " ".join(name.split())).split())


def like(search: str) -> str:
    """Return the pattern of a search for LIKE with the escape `!`; empty for an empty search."""
    words = search.strip().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{words}%" if words else ""


def like_json(search: str) -> str:
    """As `like`, for a text inside JSON."""
    return like(msgspec.json.encode(" ".join(search.split())).decode()[1:-1])


_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ENCODED_WORD: Final = re.compile(r"=\?[^?]*\?[bq]\?", re.IGNORECASE)


def is_one_line(text: str) -> bool:
    """Whether a text is one line. A second line could be read as another header."""
    return _CONTROL.search(text) is None


def has_encoded_word(text: str) -> bool:
    """Whether mail programs would decode the text to other characters (RFC 2047)."""
    return _ENCODED_WORD.search(text) is not None
