"""The words that several of the looks share, and how they are written down."""

from __future__ import annotations

import re
from typing import Final


def sign(*alternatives: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern for words: any of the alternatives, whatever their case."""
    return re.compile("|".join(alternatives), re.IGNORECASE | flags)


def listed(*words: str) -> frozenset[str]:
    """The words of comma-separated lists."""
    return frozenset(word.strip() for part in words for word in part.split(",") if word.strip())


CHANNEL: Final = (
    r"(?:linked[ -]?in|twitter|x|threads|bluesky|instagram|facebook|tiktok|reddit|hacker news|hn|product hunt|"
    r"mastodon|youtube)"
)
PIECE: Final = (
    r"(?:posts?|tweets?|threads?|e-?mails?|newsletters?|captions?|copy|headlines?|taglines?|announcements?|"
    r"articles?|press releases?|subject lines?|descriptions?|ads?|repl(?:y|ies)|comments?|messages?|scripts?|"
    r"summar(?:y|ies)|titles?|variants?|versions?|drafts?|texts?|release notes|landing pages?|slogans?|blurbs?|"
    r"stor(?:y|ies)|sequence)"
)
"""What somebody can be asked to write."""
SOME: Final = r"(?:[^\s.:!?]{1,30}\s+)"
"""A word on the way to the one that counts."""
ONE: Final = r"(?:an?|the|our|one|two|three|four|five|six|ten|\d{1,2}|some|this|each|another|several)"
WRITE: Final = (
    r"(?:write|draft|compose|generate|create|produce|craft|prepare|come up with|give me|give us|provide|develop|"
    r"brainstorm|suggest|propose|make|design)"
)

AUTHOR: Final = sign(r"\b(?:i|my|me|we|our|us|how|why|what)\b")
"""By these an author speaks; who only names a piece does not use them."""
READER: Final = sign(r"\byou(?:r|rs|rself|['’]\w+)?\b")
"""Speaks to the reader: advice or an offer, not a task."""
PITCH: Final = sign(
    r"\b(?:in (?:one|a|two|a few|under an?|\d+) (?:click|second|minute|tap|hour)s?|in (?:seconds|minutes)|"
    r"with (?:one|a single) (?:click|tap|prompt)|faster|without|automatically|for free|every (?:day|week)|"
    r"once a \w+|daily|today|tomorrow|instead|from (?:any|scratch))\b"
)
"""What a product promises, or advice demands, and a task does not say."""
