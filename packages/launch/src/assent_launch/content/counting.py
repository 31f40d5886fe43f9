"""Measures the length of a text as each channel does: user-perceived characters, UTF-16 units, X's
weights.

Grapheme clusters follow UAX #29 for emoji, marks, flags, Hangul and line ends. Conjuncts that newer
Unicode versions join are counted apart, so a text can only seem longer than it is for the channel.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

ZWJ: Final = 0x200D
TEXT_STYLE: Final = 0xFE0E
EMOJI_STYLE: Final = 0xFE0F
KEYCAP: Final = 0x20E3

X_URL_WEIGHT: Final = 23
"""X replaces every URL by a t.co URL of this length."""
X_LIGHT: Final = ((0, 0x10FF), (0x2000, 0x200D), (0x2010, 0x201F), (0x2032, 0x2037))
"""Code points that weigh one on X. All others weigh two, and so does any emoji."""

_GENERIC: Final = (
    "com|org|net|edu|gov|mil|int|info|biz|name|pro|dev|app|page|blog|shop|store|online|site|website|tech|cloud|digital|"
    "agency|studio|design|space|world|live|news|social|tools|systems|software|solutions|services|academy|email|health|"
    "care|finance|money|games|media|network|team|works|work|xyz|club|wiki|art|zone|link|click|one|today|support|run|sh"
)
_ELSE: Final = r"\s<>\"'؛،\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef"
"""Characters that end a URL: blanks, quotes, and scripts without blanks."""
_ADDRESS: Final = re.compile(
    rf"https?://[^{_ELSE}]+"
    rf"|(?<![\w@./-])(?:[a-z0-9](?:[a-z0-9-]{{0,61}}[a-z0-9])?\.){{1,8}}(?:{_GENERIC}|[a-z]{{2}})(?![\w@-]|\.\w)"
    rf"(?:/[^{_ELSE}]*)?",
    re.IGNORECASE,
)
_TRAILING: Final = ".,;:!?'\"”’»…*_"


def graphemes(text: str) -> int:
    """Count user-perceived characters, as Bluesky does."""
    return sum(1 for _ in clusters(text))


def utf16(text: str) -> int:
    """Count UTF-16 code units, as most web editors do."""
    return len(text) + sum(1 for char in text if ord(char) > 0xFFFF)


def code_points(text: str) -> int:
    return len(text)


def threads_units(text: str) -> int:
    """Count characters as Threads does: an emoji counts as its UTF-8 bytes."""
    return sum(len(cluster.encode()) if is_emoji(cluster) else len(cluster) for cluster in clusters(text))


def x_weight(text: str) -> int:
    """Return X's weighted length: 23 for a URL, 2 for an emoji or most CJK, else 1."""
    text = unicodedata.normalize("NFC", text)
    weight, at = 0, 0
    for start, end in addresses(text):
        weight += _plain_x_weight(text[at:start]) + _address_weight(text[start:end])
        at = end
    return weight + _plain_x_weight(text[at:])


def addresses(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each URL, without the punctuation after it."""
    for match in _ADDRESS.finditer(text):
        start, end = match.span()
        while end > start and text[end - 1] in _TRAILING:
            end -= 1
        while text[end - 1] == ")" and text.count("(", start, end) < text.count(")", start, end):
            end -= 1
        yield start, end


def _address_weight(address: str) -> int:
    if address.lower().startswith(("http://", "https://")):
        return X_URL_WEIGHT
    # A bare host name may or may not become a link; the larger count is safe.
    host = address.partition("/")[0]
    known = re.search(rf"\.(?:{_GENERIC})$", host, re.IGNORECASE) is not None
    return X_URL_WEIGHT if known else max(X_URL_WEIGHT, _plain_x_weight(address))


def _plain_x_weight(text: str) -> int:
    if text.isascii():
        return len(text)
    weight = 0
    for cluster in clusters(text):
        if is_emoji(cluster):
            weight += 2
        else:
            weight += sum(1 if _light(ord(char)) else 2 for char in cluster)
    return weight


def _light(point: int) -> bool:
    return any(low <= point <= high for low, high in X_LIGHT)


def is_emoji(cluster: str) -> bool:
    first = ord(cluster[0])
    if _is_flag(first):
        return len(cluster) == 2
    if len(cluster) > 1 and ord(cluster[-1]) == KEYCAP:
        return cluster[0] in "0123456789#*"
    if first in _PLAIN_SIGNS:
        return len(cluster) > 1 and ord(cluster[1]) == EMOJI_STYLE
    return _pictographic(first) and not (len(cluster) > 1 and ord(cluster[1]) == TEXT_STYLE)


def without_emoji(text: str) -> str:
    """Remove all emoji, each with the space beside it."""
    kept = "".join("" if is_emoji(cluster) else cluster for cluster in clusters(text))
    if kept == text:
        return text
    kept = re.sub(r"[ \t]{2,}", " ", kept)
    return re.sub(r"[ \t]+(?=[.,;:!?\n]|$)|(?<=\n)[ \t]+|^[ \t]+", "", kept)


def emoji_in(text: str) -> list[str]:
    if text.isascii():
        return []
    return [cluster for cluster in clusters(text) if is_emoji(cluster)]


def clusters(text: str) -> Iterator[str]:
    start, size = 0, len(text)
    if text.isascii() and "\r" not in text:
        yield from text
        return
    while start < size:
        end = _cluster_end(text, start, size)
        yield text[start:end]
        start = end


def _cluster_end(text: str, start: int, size: int) -> int:
    first = ord(text[start])
    at = start + 1
    if first < 0x20:
        return at + 1 if first == 0x0D and at < size and text[at] == "\n" else at
    if _is_flag(first) and at < size and _is_flag(ord(text[at])):
        at += 1
    elif 0x1100 <= first <= 0x11FF or 0xAC00 <= first <= 0xD7A3:
        while at < size and 0x1160 <= ord(text[at]) <= 0x11FF:
            at += 1
    while at < size:
        point = ord(text[at])
        if point == ZWJ:
            at += 1
            if at < size and _pictographic(ord(text[at])) and _pictographic(first):
                at += 1
            continue
        if not _extends(text[at], point):
            break
        at += 1
    return at


def _extends(char: str, point: int) -> bool:
    if point < 0x300:
        return False
    if 0x1F3FB <= point <= 0x1F3FF or 0xE0020 <= point <= 0xE007F or point == 0x200C:
        return True
    return unicodedata.category(char) in ("Mn", "Me", "Mc")


def _is_flag(point: int) -> bool:
    return 0x1F1E6 <= point <= 0x1F1FF


_PLAIN_SIGNS: Final = frozenset(
    (0xA9, 0xAE, 0x2122, 0x203C, 0x2049, 0x2139, 0x3030, 0x303D, 0x3297, 0x3299)
) | set(range(0x2190, 0x2200))
"""Signs that are emoji only with a variation selector."""
_PICTURES: Final = (
    (0x231A, 0x231B), (0x2328, 0x2328), (0x23CF, 0x23CF), (0x23E9, 0x23FA), (0x25AA, 0x25AB), (0x25FB, 0x25FE),
    (0x2600, 0x2604), (0x260E, 0x2612), (0x2614, 0x2618), (0x261D, 0x261D), (0x2620, 0x2640), (0x2642, 0x267F),
    (0x2692, 0x26FF), (0x2702, 0x2702), (0x2705, 0x270D), (0x270F, 0x2712), (0x2714, 0x2716), (0x271D, 0x271D),
    (0x2721, 0x2721), (0x2728, 0x2728), (0x2733, 0x2734), (0x2744, 0x2747), (0x274C, 0x274E), (0x2753, 0x2757),
    (0x2763, 0x2764), (0x2795, 0x2797), (0x27A1, 0x27A1), (0x27B0, 0x27BF), (0x2934, 0x2935), (0x2B05, 0x2B07),
    (0x2B1B, 0x2B1C), (0x2B50, 0x2B55), (0x1F004, 0x1F004), (0x1F0CF, 0x1F0CF), (0x1F170, 0x1F251),
    (0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F7E0, 0x1F7FF), (0x1F90C, 0x1F9FF), (0x1FA70, 0x1FAFF),
)  # fmt: skip


def _pictographic(point: int) -> bool:
    if point < 0x203C:
        return point in _PLAIN_SIGNS
    if 0x1F3FB <= point <= 0x1F3FF:
        return True
    return point in _PLAIN_SIGNS or any(low <= point <= high for low, high in _PICTURES)


Count = Callable[[str], int]
