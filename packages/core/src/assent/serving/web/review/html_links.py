"""Extracts the URLs of an HTML source with their link texts, tokenizing as browsers do. Pure, in
linear time.

Lists everything that a mail program might follow or load: attributes of any tag, URLs in styles,
and the content of comments, which some programs show.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

from assent.kernel.structs import Record

_NAME: Final = re.compile(r"/?([a-zA-Z][^\s/>]*)")
_ATTRIBUTE: Final = re.compile(r"[\s/]*(=?[^\s/>=]+|=)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]*)))?")
_END: Final = re.compile(r"[\s/]*>")
_RAW_END: Final = re.compile(r"</(script|style|title|textarea|xmp|noscript|iframe)\b", re.IGNORECASE)
_RAW: Final = frozenset({"script", "style", "title", "textarea", "xmp", "noscript", "iframe"})
_LEADING: Final = frozenset(
    {"href", "src", "srcset", "action", "formaction", "background", "poster", "data", "xlink:href"}
)
_STYLE_URL: Final = re.compile(r"url\(\s*[\"']?([^\"')]{1,2000})", re.IGNORECASE)
_REFRESH: Final = re.compile(r"url\s*=\s*[\"']?([^\"']+)", re.IGNORECASE)


class Tag(Record):
    name: str
    closes: bool
    attributes: dict[str, str]


def find_links(source: str) -> list[tuple[str, str]]:
    """Every URL with its link text, which a loaded URL lacks."""
    found: list[tuple[str, str]] = []
    url: str | None = None
    words: list[str] = []

    def close() -> None:
        nonlocal url
        if url is not None:
            found.append((url, " ".join("".join(words).split())))
        url = None
        words.clear()

    for part in _parts(source):
        if isinstance(part, str):
            words.append(html.unescape(part))
        elif part.name in ("a", "area"):
            close()
            url = None if part.closes else part.attributes.get("href")
            if part.name == "area":
                words.append(part.attributes.get("alt", ""))
                close()
        if isinstance(part, Tag):
            words.append(part.attributes.get("alt", "") if part.name == "img" else "")
            found += ((each, "") for each in _loads(part))
    close()
    return [(url, words) for url, words in found if url.strip() and not url.startswith("#")]


def parse_tags(source: str) -> Iterator[Tag]:
    """Every tag in order. A style sheet becomes its `style` attribute."""
    return (part for part in _parts(source) if isinstance(part, Tag))


def _loads(tag: Tag) -> Iterator[str]:
    """The URLs of a tag other than its link target."""
    for name, value in tag.attributes.items():
        if name == "href" and tag.name in ("a", "area"):
            continue
        if name == "srcset":
            yield from (part.split()[0] for part in value.split(",") if part.strip())
        elif name in _LEADING:
            yield value
        elif name == "style":
            yield from _STYLE_URL.findall(value)
        elif name == "content" and tag.name == "meta":
            yield from _REFRESH.findall(value)


def _parts(source: str, *, inner: bool = False) -> Iterator[str | Tag]:
    """Text and tags in order. Comments and raw text (`inner`) do not nest."""
    at = 0
    while (start := source.find("<", at)) >= 0:
        yield source[at:start]
        if source.startswith("<!--", start):
            end = -1 if inner else source.find("-->", start + 4)
            if inner:
                at = start + 4
                continue
            yield from _tags_only(source[start + 4 : end if end >= 0 else len(source)])
            at = end + 3 if end >= 0 else len(source)
            continue
        named = _NAME.match(source, start + 1)
        if named is None:
            yield "<"
            at = start + 1
            continue
        name, closes = named[1].lower(), source[start + 1] == "/"
        attributes, at = _attributes(source, named.end())
        if at < 0:
            return
        yield Tag(name, closes, attributes)
        if name in _RAW and not closes and not inner:
            raw_end = _RAW_END.search(source, at)
            raw = source[at : raw_end.start() if raw_end is not None else len(source)]
            if name == "style":
                yield Tag("style", False, {"style": raw})
            elif name != "script":
                yield from _tags_only(raw)
            at += len(raw)
    yield source[at:]


def _tags_only(source: str) -> Iterator[Tag]:
    """The tags inside a comment or raw text."""
    for part in _parts(source, inner=True):
        if isinstance(part, Tag):
            yield part


def _attributes(source: str, at: int) -> tuple[dict[str, str], int]:
    """Return a tag's attributes and its end; -1 if it does not end."""
    found: dict[str, str] = {}
    while True:
        end = _END.match(source, at)
        if end is not None:
            return found, end.end()
        match = _ATTRIBUTE.match(source, at)
        if match is None:
            return found, -1
        value = next((part for part in match.groups()[1:] if part is not None), "")
        found.setdefault(match[1].lower(), html.unescape(value))
        at = match.end()
