"""Finds the product's name in the evidence."""

from __future__ import annotations

import re
from typing import Final

from assent.suite.content.counting import without_emoji
from assent.suite.content.evidence import Evidence
from assent.suite.content.language import word_set

_SEPARATOR: Final = re.compile(r"\s+(?:[|–—·•:›»-]|--)\s+|\s*[|｜]\s*|:\s+|：")
"""Separates the name from the rest of a title."""
_BESIDE: Final = re.compile(
    r"^(?:welcome to|what is|what['’]s|why) (?:the )?|\s*\([^)]*\)|\s+v?\d+(?:\.\d+)+$|\?$", re.IGNORECASE
)
_GENERIC_NAMES: Final = word_set(
    "home welcome readme index app website untitled document documentation startseite ホーム"
)
_HOSTS_OF_MANY: Final = word_set(
    "github.com gitlab.com codeberg.org bitbucket.org npmjs.com pypi.org crates.io sr.ht hub.docker.com apps.apple.com "
    "play.google.com marketplace.visualstudio.com addons.mozilla.org rubygems.org"
)
"""Hosts whose domain is not the product's name."""
_IS: Final = re.compile(
    r"^([\w.+/-]+(?: [A-Z][\w.+-]*){0,2}) (?:is|ist) (?:an?|the|your|eine?|das|die|der)\b"
)
_NO_NAMES: Final = word_set("This It That There Here What How Our My Your The Dies Das Es")


def find_name(evidence: Evidence) -> str:
    """Return the product's name: the brand's, that of a title, else the host of its URL."""
    for _, fact in evidence.of("brand_name", "page_site_name"):
        if _is_name(fact.text):
            return fact.text.rstrip(" .:")
    host = re.sub(r"^https?://(?:www\.)?|[/:?#].*$", "", evidence.product_url).lower()
    path = [part for part in re.sub(r"^https?://[^/]*|[?#].*$", "", evidence.product_url).split("/") if part]
    shared = host in _HOSTS_OF_MANY
    label = re.sub(r"\W", "", path[-1].lower() if shared and path else host.partition(".")[0])
    for _, fact in evidence.of("readme_title", "page_title", "og_title"):
        title = _BESIDE.sub("", without_emoji(fact.text).strip())
        parts = [part.strip(" .!·") for part in _SEPARATOR.split(title) if part.strip(" .!·")]
        named = [part for part in parts if label and re.sub(r"\W", "", part).casefold() == label]
        most = 4 if fact.source == "readme_title" else 3 if len(parts) > 1 else 2
        ends = parts[:1] if fact.source == "readme_title" else sorted({*parts[:1], *parts[-1:]}, key=len)
        short = [part for part in ends[:1] if _is_name(part) and len(part.split()) <= most]
        if named or short:
            return (named or short)[0]
    for _, fact in evidence.of("readme", "page_description", "og_description"):
        match = _IS.match(fact.text)
        if match and match[1] not in _NO_NAMES:
            return match[1]
    if shared:
        return path[-1] if path else ""
    return host if re.search(r"\.[a-z][a-z0-9-]+$", host) else ""


def is_named(name: str, text: str) -> bool:
    if not name.isascii():
        return name in text
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _is_name(text: str) -> bool:
    return len(text) <= 80 and text.casefold() not in _GENERIC_NAMES and any(char.isalpha() for char in text)
