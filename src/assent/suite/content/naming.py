"""Finds the product's name and the fact that contains it."""

from __future__ import annotations

import re
from typing import Final

from assent.suite.content.counting import without_emoji
from assent.suite.content.evidence import Evidence
from assent.suite.content.language import word_set

SEPARATOR: Final = re.compile(r"\s+(?:[|–—·•:›»-]|--)\s+|\s*[|｜]\s*|:\s+|：")
"""Separates the name from the rest of a title."""
_GENERIC_NAMES: Final = word_set(
    "home welcome readme index app website untitled document documentation startseite ホーム"
)
_HOSTS_OF_MANY: Final = word_set(
    "github.com gitlab.com codeberg.org bitbucket.org npmjs.com pypi.org crates.io sr.ht hub.docker.com apps.apple.com "
    "play.google.com marketplace.visualstudio.com addons.mozilla.org rubygems.org"
)
"""Hosts whose domain is not the product's name."""
_IS: Final = re.compile(
    r"^(?!(?:this|it|that|there|here|since|if|when|while|because|as|what|how|our|my|your|the|dies|das|es)\b)"
    r"([\w.+/-]+(?: [A-Z][\w.+-]*){0,2}) (?:is|ist) (?:an?|the|your|eine?|das|die|der)\b",
    re.IGNORECASE,
)


def find_name(evidence: Evidence) -> tuple[str, int | None]:
    """Return the product's name and the fact that contains it; else the host of its URL."""
    for place, fact in evidence.of("brand_name", "page_site_name"):
        if _is_name(fact.text):
            return fact.text.rstrip(" .:"), place
    host = re.sub(r"^https?://(?:www\.)?|[/:?#].*$", "", evidence.product_url).lower()
    path = [part for part in re.sub(r"^https?://[^/]*|[?#].*$", "", evidence.product_url).split("/") if part]
    shared = host in _HOSTS_OF_MANY
    label = re.sub(r"\W", "", path[-1].lower() if shared and path else host.partition(".")[0])
    for place, fact in evidence.of("readme_title", "page_title", "og_title"):
        title = re.sub(
            r"^(?:welcome to|what is|what['’]s|why) (?:the )?|\s*\([^)]*\)|\s+v?\d+(?:\.\d+)+$|\?$",
            "",
            without_emoji(fact.text).strip(),
            flags=re.IGNORECASE,
        )
        parts = [part.strip(" .!·") for part in SEPARATOR.split(title) if part.strip(" .!·")]
        for part in parts:
            if label and re.sub(r"\W", "", part).casefold() == label:
                return part, place
        first = parts[0] if parts else ""
        if not any(said.text.casefold().startswith(first.casefold()) for _, said in evidence.of("readme")):
            first = re.sub(r"\s+(?:for|für)\s.*$", "", first)
        if fact.source == "readme_title" and first and _is_name(first) and len(first.split()) <= 4:
            return first, place
        if len(parts) > 1:
            shortest = min((parts[0], parts[-1]), key=len)
            if _is_name(shortest) and len(shortest.split()) <= 3 and len(shortest) <= 30:
                return shortest, place
        if len(parts) == 1 and _is_name(parts[0]) and len(parts[0].split()) <= 2 and len(parts[0]) <= 24:
            return parts[0], place
    for place, fact in evidence.of(
        "readme", "page_description", "og_description", "whatChanged", "page_text"
    ):
        pattern = rf"(?<![\w/.@]){re.escape(label)}(?![\w/@])(?!\.\w)"
        if len(label) > 2 and (found := re.search(pattern, fact.text, re.IGNORECASE)):
            return found.group(), place
    for place, fact in evidence.of("readme", "page_description", "og_description"):
        match = _IS.match(fact.text)
        if match:
            return match.group(1), place
    if shared:
        return (path[-1], None) if path else ("", None)
    if evidence.of("readme") and label:
        first = host.partition(".")[0]
        return first.capitalize() if first.isalpha() else first, None
    return (host if re.search(r"\.[a-z][a-z0-9-]+$", host) else ""), None


def is_named(name: str, text: str) -> bool:
    if not name.isascii():
        return bool(name) and name in text
    # "memos" is not Memos.
    found = re.search(rf"(?i:^{re.escape(name)})(?!\w)|(?<!\w){re.escape(name)}(?!\w)", text)
    return bool(name) and (found is not None or is_subject(name, text))


def is_subject(name: str, text: str) -> bool:
    """Whether a text begins with the name as a noun: "Sort lists" is not about sort."""
    if not name.isascii():
        return bool(name) and text.startswith(name)
    # "JOSE RFC" is joserfc.
    letters = r"[\W_]*".join(re.escape(char) for char in re.sub(r"[\W_]", "", name))
    found = re.match(rf"(?P<name>@?{letters})(?![\w/@])(?P<next>\s+\S+)?", text, re.IGNORECASE)
    if not letters or found is None or (" " in found["name"] and " " not in name):
        return False
    verb = re.match(r"\s+(?:can|will|may|[a-zäöü]+[st])\b", found["next"] or "")
    return found["name"] == name or verb is not None or not re.match(r"\s+[a-z]", found["next"] or "")


def _is_name(text: str) -> bool:
    return len(text) <= 80 and text.casefold() not in _GENERIC_NAMES and any(char.isalpha() for char in text)
