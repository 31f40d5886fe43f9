"""Reads title, description, OpenGraph data and headings from a product page.

The HTML is untrusted: every length and count is bounded, broken markup is read as far as possible,
and invisible text (scripts, styles, templates, hidden parts) is skipped.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

from assent.platform import one_line
from assent.sdk import Record
from assent_launch.content.language import word_set

MAX_CHARS: Final = 500_000
MAX_HEADINGS: Final = 24
MAX_PARAGRAPHS: Final = 12
MAX_META: Final = 200
PIECE_CHARS: Final = 4_096
MAX_TAG_CHARS: Final = 65_536
"""The longest tag, which may contain a picture. Reading stops at a longer one."""
_COLLECT_CHARS: Final = 4_000
_TAG_START: Final = re.compile(r"<[a-zA-Z/!?]")
_HIDING: Final = re.compile(r"<!--|<(script|style|noscript|template)(?=[\s/>])")

_UNSEEN: Final = word_set("script style template noscript svg iframe object select textarea nav footer")
_VOID: Final = word_set("area base br col embed hr img input link meta param source track wbr")
_HEADINGS: Final = frozenset({"h1", "h2", "h3"})
_WANTED: Final = _HEADINGS | {"title", "p"}


class Page(Record, kw_only=True):
    """The readable parts of a page, each one cleaned line."""

    title: str = ""
    description: str = ""
    site_name: str = ""
    og_title: str = ""
    og_description: str = ""
    language: str = ""
    headline: str = ""
    """The first `h1`; the other headings are in `headings`."""
    headings: tuple[str, ...] = ()
    paragraphs: tuple[str, ...] = ()
    truncated: bool = False


class Fetched(Record, kw_only=True):
    """The result of fetching a page: the page, or the reason as a sentence why there is none."""

    page: Page | None = None
    problem: str = ""
    status: int | None = None
    """The HTTP status; None if there was no response or no request."""
    found_at: str = ""


def read_page(markup: str) -> Page:
    """Parse the HTML of a page. Never raises."""
    reader = _PageReader()
    text = _without_unseen(markup[:MAX_CHARS].replace("\0", ""))
    try:
        # In pieces: with each piece the parser restarts at an unfinished tag, and at the end it
        # tries every "<" as text.
        for start in range(0, len(text), PIECE_CHARS):
            reader.feed(text[start : start + PIECE_CHARS])
            if len(reader.rawdata) > MAX_TAG_CHARS:
                break
        if len(reader.rawdata) <= PIECE_CHARS:
            # A tag that never ends is no text; browsers drop it too.
            unfinished = _TAG_START.search(reader.rawdata)
            if unfinished is not None:
                reader.rawdata = reader.rawdata[: unfinished.start()]
            reader.close()
    except (AssertionError, ValueError, RecursionError):
        # The parser raises on a few malformed declarations; the parts read before are kept.
        pass
    reader.finish()
    return reader.page(truncated=len(markup) > MAX_CHARS)


def _without_unseen(markup: str) -> str:
    """Remove comments, scripts and styles from the HTML. An unclosed one removes the rest."""
    lower, kept, at = markup.lower(), [], 0
    if len(lower) != len(markup):
        lower = markup
    for match in _HIDING.finditer(lower):
        if match.start() < at:
            continue
        kept.append(markup[at : match.start()])
        end = "-->" if match.group(1) is None else f"</{match.group(1)}"
        found = lower.find(end, match.end())
        if found < 0:
            return "".join(kept)
        at = found + len(end) if match.group(1) is None else (lower.find(">", found) + 1 or len(markup))
    return "".join([*kept, markup[at:]])


def read_text(text: str) -> Page:
    """Read a plain-text page: first line is the title, first paragraphs the description."""
    blocks = [block for block in text[:MAX_CHARS].split("\n\n") if block.strip()][: MAX_PARAGRAPHS + 1]
    lines = [one_line(block) for block in blocks]
    return Page(
        title=lines[0][:200] if lines else "",
        paragraphs=tuple(line for line in lines[1:] if line),
        truncated=len(text) > MAX_CHARS,
    )


class _PageReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.meta: dict[str, str] = {}
        self.found: dict[str, list[str]] = {"title": [], "headline": [], "heading": [], "p": []}
        self.lang = ""
        self.unseen: str | None = None
        self.unseen_depth = 0
        self.open: str | None = None
        self.held: list[str] = []
        self.held_chars = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.unseen is not None:
            self.unseen_depth += tag == self.unseen
            return
        values = dict(attrs)
        if tag == "html" and not self.lang:
            self.lang = (values.get("lang") or "")[:20]
        elif tag == "meta":
            self._meta(values)
        hidden = (
            "hidden" in values or values.get("aria-hidden") == "true" or _invisible(values.get("style") or "")
        )
        if (tag in _UNSEEN or hidden) and tag not in _VOID:
            self.finish()
            self.unseen, self.unseen_depth = tag, 1
        elif tag in _WANTED:
            self.finish()
            self.open = tag
        elif self.open is not None and tag in ("br", "div", "li", "section"):
            self._hold(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self.unseen is not None:
            self.unseen_depth -= tag == self.unseen
            if self.unseen_depth <= 0 or tag in ("body", "html"):
                self.unseen = None
            return
        if tag == self.open:
            self.finish()

    def handle_data(self, data: str) -> None:
        if self.unseen is None and self.open is not None:
            self._hold(data)

    def finish(self) -> None:
        if self.open is not None:
            first = self.open == "h1" and not self.found["headline"]
            kind = "headline" if first else "heading" if self.open in _HEADINGS else self.open
            most = {"title": 1, "headline": 1, "heading": MAX_HEADINGS, "p": MAX_PARAGRAPHS}[kind]
            line = one_line("".join(self.held))
            if line and len(self.found[kind]) < most and line not in self.found[kind]:
                self.found[kind].append(line)
        self.open, self.held, self.held_chars = None, [], 0

    def page(self, *, truncated: bool) -> Page:
        meta = {name: one_line(value) for name, value in self.meta.items()}
        return Page(
            title=next(iter(self.found["title"]), ""),
            description=meta.get("description", ""),
            site_name=meta.get("og:site_name", "") or meta.get("application-name", ""),
            og_title=meta.get("og:title", "") or meta.get("twitter:title", ""),
            og_description=meta.get("og:description", "") or meta.get("twitter:description", ""),
            language=self.lang.partition("-")[0].lower(),
            headline=next(iter(self.found["headline"]), ""),
            headings=tuple(self.found["heading"]),
            paragraphs=tuple(self.found["p"]),
            truncated=truncated,
        )

    def _hold(self, data: str) -> None:
        if self.held_chars < _COLLECT_CHARS:
            self.held.append(data[:_COLLECT_CHARS])
            self.held_chars += len(data)

    def _meta(self, values: dict[str, str | None]) -> None:
        name = (values.get("property") or values.get("name") or "").strip().lower()[:60]
        content = values.get("content") or ""
        if name and content and len(self.meta) < MAX_META:
            self.meta.setdefault(name, content[:_COLLECT_CHARS])


def _invisible(style: str) -> bool:
    flat = style[:500].replace(" ", "").lower()
    return any(
        sign in flat
        for sign in ("display:none", "visibility:hidden", "font-size:0", "opacity:0;", "left:-9999")
    ) or flat.endswith("opacity:0")
