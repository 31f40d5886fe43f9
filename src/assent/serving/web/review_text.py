"""Content as a human must read it: nothing rendered, nothing hidden (security.md 2, 10).

The text is shown as it will be sent, with its white space. Characters that nobody can see, or that turn the text
around them, are named where they stand; where a link leads is written out. HTML is never rendered: it is shown as the
text in it and as its source. Pure, and linear in the length of the text whatever it holds.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

import msgspec

MOST_LINKS: Final = 200
"""Links that are listed one by one; a text with more is no text."""

# Zero-width and bidirectional controls, soft hyphen, tag characters, other controls. Joiners that scripts and emoji
# need (U+200C, U+200D) and variation selectors stay as they are.
_UNSEEN: Final = re.compile(
    "([\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f])"
)
_URL: Final = re.compile(r"(?:https?://|www\.)[^\s<>\"“”„`]+", re.IGNORECASE)
_MARKDOWN_LINK: Final = re.compile(r"\[([^\[\]\n]{1,300})\]\(<?([^\s()<>]{1,2000})>?(?:\s[^()\n]{0,200})?\)")
_TAG: Final = re.compile(r"<[^<>]*>")
_ANCHOR: Final = re.compile(r"(<a\b[^<>]*>)([^<]*)", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(
    r"\b(?:href|src|action)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE
)
_BLOCK: Final = re.compile(
    r"</?(?:p|div|br|tr|li|ul|ol|table|h[1-6]|blockquote|section)\b[^<>]*>", re.IGNORECASE
)
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)
_TRAILING: Final = ".,;:!?)]}'’*_"


class Piece(msgspec.Struct, frozen=True):
    """A stretch of text, or one character that would not be seen, by its name."""

    text: str
    unseen: bool = False


class Target(msgspec.Struct, frozen=True):
    """Where a link leads, what it says of itself, and what is odd about it."""

    url: str
    host: str
    says: str = ""
    oddity: str = ""


def pieces(text: str) -> tuple[Piece, ...]:
    """The text with every unseen character named."""
    parts = _UNSEEN.split(text)
    found = []
    for index, part in enumerate(parts):
        if index % 2:
            found.append(Piece(f"U+{ord(part):04X}", unseen=True))
        elif part:
            found.append(Piece(part))
    return tuple(found)


def targets(text: str) -> tuple[Target, ...]:
    """Every link in a text, once each, in order."""
    named = {match[2]: match[1] for match in _MARKDOWN_LINK.finditer(text)}
    return _unique(
        [*((url, says) for url, says in named.items()), *((_bare(url), "") for url in _URL.findall(text))]
    )


def html_targets(source: str) -> tuple[Target, ...]:
    """Every link and remote picture in an HTML source."""
    said: dict[str, str] = {}
    for match in _ANCHOR.finditer(source):
        if (url := _first_attribute(match[1])) is not None:
            said.setdefault(url, " ".join(html.unescape(match[2]).split()))
    others = [
        (url, "")
        for tag in _TAG.findall(source)
        if (url := _first_attribute(tag)) is not None and not url.startswith("#")
    ]
    return _unique([*said.items(), *others])


def html_text(source: str) -> str:
    """The words in an HTML source, without its tags; also what a mail program would hide."""
    text = html.unescape(_TAG.sub("", _BLOCK.sub("\n", source)))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _first_attribute(tag: str) -> str | None:
    match = _ATTRIBUTE.search(tag)
    return None if match is None else html.unescape(match[1] or match[2] or match[3] or "")


def _bare(url: str) -> str:
    """Without the punctuation of the sentence it ends."""
    return url.rstrip(_TRAILING) if "(" not in url else url.rstrip(_TRAILING.replace(")", ""))


def _unique(found: list[tuple[str, str]]) -> tuple[Target, ...]:
    return tuple(_first_targets(found))[:MOST_LINKS]


def _first_targets(found: list[tuple[str, str]]) -> Iterator[Target]:
    seen: set[str] = set()
    for url, says in found:
        if url and url not in seen:
            seen.add(url)
            yield _target(url, says)


def _target(url: str, says: str) -> Target:
    try:
        parts = urlsplit(url if _SCHEME.match(url) else f"//{url}")
        host, user = parts.hostname or "", "@" in parts.netloc
    except ValueError:
        return Target(url, "", says, "cannot be read as an address")
    if parts.scheme not in ("", "http", "https", "mailto"):
        return Target(url, host, says, f"is a {parts.scheme}: link")
    if user:
        return Target(url, host, says, f"leads to {host}, not to what stands before the @")
    if not host.isascii() or any(label.startswith("xn--") for label in host.split(".")):
        return Target(url, host, says, "its name may look like another")
    if says and (claimed := _claimed_host(says)) and claimed != host.removeprefix("www."):
        return Target(url, host, says, f"says {claimed}, leads to {host}")
    return Target(url, host, says)


def _claimed_host(says: str) -> str:
    """The address that a link's own words name, if they name one."""
    match = re.fullmatch(
        r"(?:https?://)?(?:www\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?:[/?#:].*)?", says.strip().lower()
    )
    return match[1] if match is not None else ""
