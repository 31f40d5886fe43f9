"""Names invisible characters in a text, those that change its direction, and empty lines that hide what follows.

Joiners, variation selectors and tag characters are accepted where a script or an emoji needs them
and named elsewhere, because they can hide words. Pure, in linear time.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from markupsafe import Markup, escape

from assent.kernel.structs import Record

# Controls, and all code points that Unicode calls default-ignorable; the Braille blank is invisible
# as well.
_CANDIDATES: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_EMPTY_LINES: Final = re.compile(r"(?<![^\n])(?:[^\S\n]*+\n){4,}")
"""They would push the rest of a text out of sight."""
_FLAGS: Final = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
"""The flags of England, Scotland and Wales: the only sequences of tag characters in use."""

_JOINING: Final = re.compile(
    "[\u0600-\u109f\u1780-\u18af\u1900-\u1cff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff]"
)
"""Scripts that are written with joiners and non-joiners."""

_HAN: Final = re.compile("[\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_MONGOLIAN: Final = re.compile("[\u1800-\u180a\u1810-\u18aa]")
_KEYCAPS: Final = "#*0123456789"


class UnseenPiece(Record):
    """A stretch of text, or the name of one invisible character or of many empty lines."""

    text: str
    unseen: bool = False


def pieces(text: str) -> tuple[UnseenPiece, ...]:
    """The text, with every invisible character named and empty lines counted."""
    if text.isascii() and text.isprintable():
        return (UnseenPiece(text),) if text else ()
    found: list[UnseenPiece] = []
    end = 0
    for match in _EMPTY_LINES.finditer(text):
        found += _name_characters(text[end : match.start()])
        lines = "{count} empty lines".format(count=match[0].count("\n"))
        found += (UnseenPiece(lines, unseen=True), UnseenPiece("\n"))
        end = match.end()
    return (*found, *_name_characters(text[end:]))


def _name_characters(text: str) -> tuple[UnseenPiece, ...]:
    flags = {place for match in _FLAGS.finditer(text) for place in range(*match.span())}
    found: list[UnseenPiece] = []
    end = 0
    for match in _CANDIDATES.finditer(text):
        at = match.start()
        if at in flags or _belongs(text, at):
            continue
        if at > end:
            found.append(UnseenPiece(text[end:at]))
        found.append(UnseenPiece(f"U+{ord(match[0]):04X}", unseen=True))
        end = at + 1
    if end < len(text):
        found.append(UnseenPiece(text[end:]))
    return tuple(found)


def mark_unseen(text: object) -> Markup:
    """Escaped HTML with every invisible character named: the `marked` filter."""
    return Markup("").join(
        Markup('<span class="unseen">{}</span>').format(piece.text) if piece.unseen else escape(piece.text)
        for piece in pieces(str(text))
    )


def without_unseen(text: str) -> str:
    return _CANDIDATES.sub("", text)


def _belongs(text: str, at: int) -> bool:
    """Whether the surrounding script or emoji needs the character."""
    char, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if not before:
        return False
    if char in "\u200c\u200d" and _JOINING.match(before):
        return True
    if char == "\u200d":
        return (_is_symbol(before) or before == "\ufe0f") and _is_symbol(after)
    if char in "\ufe0e\ufe0f":
        return _is_symbol(before) or (before in _KEYCAPS and after == "\u20e3")
    if "\ufe00" <= char <= "\ufe0d":
        return unicodedata.category(before) == "Sm" or _HAN.match(before) is not None
    if "\U000e0100" <= char <= "\U000e01ef":
        return _HAN.match(before) is not None
    if "\u180b" <= char <= "\u180f":
        return _MONGOLIAN.match(before) is not None
    if char == "\u2800":
        return "\u2801" <= before <= "\u28ff" or "\u2801" <= after <= "\u28ff"
    return False


def _is_symbol(char: str) -> bool:
    """Whether a character is an emoji or can be shown as one."""
    return (
        char != ""
        and char != "\u2800"
        and (unicodedata.category(char) in ("So", "Sk", "Sm") or char in "‼⁉〰ℹ")
    )
