"""Cleans text from pages and repositories. It is data: nothing in it is followed as an instruction.

Removes control characters, invisible ones, direction overrides and markup. Linear in the length of the
text, and bounded.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

LINE_CHARS: Final = 600
"""The longest fact; a longer one is cut at a sentence."""

_INVISIBLE: Final = re.compile(
    r"[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_TAG_CHARACTERS: Final = re.compile("(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)|[\U000e0000-\U000e007f]+")
"""Invisible letters, which have a meaning only in flags."""
_TAGS: Final = re.compile(r"<(?:!--.{0,2000}?-->|/?[a-zA-Z][^<>]{0,500}>)", re.DOTALL)
_SPACES: Final = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u205f]+")


def printable(text: str) -> str:
    """Remove invisible and unassigned characters, unify line ends, compose accents."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    text = _TAG_CHARACTERS.sub(r"\1", _INVISIBLE.sub("", text))
    kept = "".join(
        char for char in text if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs", "Co", "Cn")
    )
    return unicodedata.normalize("NFC", kept)


def one_line(text: str, most: int = LINE_CHARS) -> str:
    """Return a single line without markup, cut at a sentence or word if it is too long."""
    text = html.unescape(_TAGS.sub(" ", text[: most * 8]))
    # Unescaping may have produced new markup.
    text = _TAGS.sub(" ", text)
    text = _SPACES.sub(" ", printable(text).replace("\n", " ")).strip()
    return cut(text, most)


def cut(text: str, most: int) -> str:
    """Cut a text to `most` characters, at a late sentence end, else at a word."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    end = max(head.rfind(stop) for stop in (". ", "! ", "? ", "。", "！", "؟"))
    if end > most // 2:
        return head[: end + 1]
    space = head.rfind(" ")
    return (head[:space] if space > most // 2 else head).rstrip(" ,;:–—-、") + "…"
