"""Renders Markdown as safe HTML: no raw HTML, no images, then sanitized by nh3.

Links lead to http, https and mailto URLs only. Bare URLs become links, and an image becomes a link
to it, so that a page loads nothing from other sites. Unknown syntax stays visible as text.

The parsers are imported at the first use, because many processes never need them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Final

from assent.kernel.structs import Record

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

TAGS: Final = frozenset(
    {"p", "br", "hr", "em", "strong", "s", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote"}
    | {"pre", "code", "a", "table", "thead", "tbody", "tr", "th", "td"}
)
ATTRIBUTES: Final = {"a": {"href"}, "ol": {"start"}}
SCHEMES: Final = frozenset({"http", "https", "mailto"})

MAX_MARKS: Final = 10_000
"""Marks in a rendered text: each costs up to 30 µs. With more, it is shown as written."""

MAX_LINK_CHARS: Final = 2_000
"""Longest URL that every browser and server accepts. A longer one stays text."""

_MARKS: Final = re.compile(r"[\n\[\]!*_`~|<>&#\\+-]")
_TARGET: Final = re.compile(r"(?:https?://[^/\s]|mailto:[^\s])", re.IGNORECASE)
_WEB: Final = re.compile(r"https?://", re.IGNORECASE)
_BARE: Final = re.compile(r"https?://[^\s<>\"“”„`]+", re.IGNORECASE)
_TRAILING: Final = ".,;:!?'’*_"

Href = Callable[[int, str], str]
"""The href of a link, by its number among the distinct links and its URL."""


class Rendered(Record):
    """HTML, and the distinct web URLs it links to, in order."""

    html: str
    links: tuple[str, ...]


def as_written(number: int, url: str) -> str:
    return url


def render(text: str, href: Href = as_written, *, most_marks: int = MAX_MARKS) -> Rendered:
    import nh3

    if has_many_marks(text, most_marks):
        return Rendered(f"<pre>{escape(text)}</pre>", ())

    parser = _parser()
    tokens = parser.parse(text)
    links: dict[str, int] = {}
    _order_headings(tokens)
    for token in tokens:
        if token.children:
            token.children = _link_bare(token.children)
            for child in token.children:
                url = str(child.attrs.get("href", ""))
                if child.type == "link_open" and _WEB.match(url):
                    child.attrs["href"] = href(links.setdefault(url, len(links)), url)
    html = parser.renderer.render(tokens, parser.options, {})
    cleaned = nh3.clean(
        html, tags=set(TAGS), attributes=ATTRIBUTES, url_schemes=set(SCHEMES), link_rel="noopener"
    )
    return Rendered(cleaned, tuple(links))


def has_many_marks(text: str, most_marks: int = MAX_MARKS) -> bool:
    return sum(1 for _ in islice(_MARKS.finditer(text), most_marks + 1)) > most_marks


def plain(text: str) -> str:
    """The text without marks, in one line."""
    words: list[str] = []
    for token in _parser().parse(text):
        words += [child.content or " " for child in token.children or ()]
        words.append(" ")
    return " ".join("".join(words).split())


def plain_lines(text: str) -> str:
    """The text without marks, with its line breaks."""
    lines: list[str] = []
    for token in _parser().parse(text):
        if token.children is None:
            continue
        words = "".join(
            "\n" if child.type in ("softbreak", "hardbreak") else child.content for child in token.children
        )
        lines += (" ".join(line.split()) for line in words.split("\n"))
    return "\n".join(line for line in lines if line)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    parser.validateLink = _is_target  # type: ignore[method-assign]
    return parser


def _order_headings(tokens: list[Token]) -> None:
    """Renumber headings below the page's own title and without gaps, for screen readers."""
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    levels = sorted({token.tag for token in headings})
    above = 1
    for token in headings:
        if token.type == "heading_open":
            above = min(levels.index(token.tag) + 2, above + 1, 6)
        token.tag = f"h{above}"


def _is_target(url: str) -> bool:
    return len(url) <= MAX_LINK_CHARS and _TARGET.match(url) is not None


def _link_bare(children: list[Token]) -> list[Token]:
    """The inline tokens, with images and bare URLs as links."""
    shown: list[Token] = []
    inside = 0
    for child in children:
        inside += {"link_open": 1, "link_close": -1}.get(child.type, 0)
        if child.type == "image":
            words = child.content or "picture"
            shown += [_text(words)] if inside else _link(str(child.attrs["src"]), words)
        elif child.type == "text" and not inside:
            shown += _with_links(child.content)
        else:
            shown.append(child)
    return shown


def _with_links(text: str) -> list[Token]:
    found: list[Token] = []
    end = 0
    for match in _BARE.finditer(text):
        if len(match[0]) > MAX_LINK_CHARS or not _is_target(url := _without_punctuation(match[0])):
            continue
        found += [_text(text[end : match.start()]), *_link(url, url)]
        end = match.start() + len(url)
    return [*found, _text(text[end:])]


def _without_punctuation(url: str) -> str:
    """Strip the punctuation of the surrounding sentence. A closing bracket is stripped only if it
    was opened outside."""
    url = url.rstrip(_TRAILING)
    while url.endswith((")", "]")) and url.count(url[-1]) > url.count({")": "(", "]": "["}[url[-1]]):
        url = url[:-1].rstrip(_TRAILING)
    return url


def _link(url: str, words: str) -> list[Token]:
    from markdown_it.token import Token

    return [
        Token("link_open", "a", 1, attrs={"href": url}),
        _text(words),
        Token("link_close", "a", -1),
    ]


def _text(words: str) -> Token:
    from markdown_it.token import Token

    return Token("text", "", 0, content=words)
