"""Renders the HTML part of an e-mail for a sandboxed frame.

The source is sanitized first: no scripts, no forms, no URLs to follow or load, and only styles that
cannot load anything. It is then isolated twice: the frame has an empty `sandbox`, and the response
has its own policy with `sandbox`. The page around the frame shows the removed parts as text, as a
list of links and as source.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Final

from assent.serving.web.review.html_links import parse_tags

_TAG: Final = re.compile(r"<[^<>]*>")
_BLOCK: Final = re.compile(
    r"</?(?:p|div|br|tr|li|ul|ol|table|h[1-6]|blockquote|section)\b[^<>]*>", re.IGNORECASE
)
_TAGS: Final = """a abbr b blockquote br center code div em font h1 h2 h3 h4 h5 h6 hr i img li ol p pre s small span
strong sub sup table tbody td tfoot th thead tr u ul"""
ATTRIBUTES: Final = {
    "*": {"style", "align", "dir", "lang", "title"},
    "td": {"colspan", "rowspan", "valign", "width", "bgcolor"},
    "th": {"colspan", "rowspan", "valign", "width", "bgcolor", "scope"},
    "table": {"width", "bgcolor", "cellpadding", "cellspacing", "border"},
    "font": {"color", "size", "face"},
    "img": {"alt", "width", "height"},
}
_STYLES: Final = """color background background-color font-family font-size font-style font-weight line-height
letter-spacing text-align text-decoration text-transform vertical-align padding padding-top padding-right padding-bottom
padding-left
margin margin-top margin-right margin-bottom margin-left border border-top border-right border-bottom border-left
border-radius border-collapse width max-width height display"""

_ADDRESS: Final = re.compile(r"url\([^)]*\)?", re.IGNORECASE)
_LOADS: Final = re.compile(r"\\|url|image|element\(|cross-fade|src\(", re.IGNORECASE)

_FRAME: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The HTML part</title>'
    "<style>body{{margin:16px;font:16px/1.5 sans-serif;color:#111;background:#fff;overflow-wrap:anywhere}}"
    "img{{display:inline-block;min-width:16px;min-height:16px;border:1px dashed #999}}</style></head>"
    "<body>{body}</body></html>"
)


def frame(source: str) -> str:
    body = _clean(source)
    if style := _page_style(source):
        around, _, end = _clean(f'<div style="{escape(style)}"> </div>').partition(" </div>")
        body = f"{around}{body}</div>" if end == "" else body
    return _FRAME.format(body=body)


def has_style_sheet(source: str) -> bool:
    """Mail programs may apply a style sheet; the frame does not."""
    return any(
        (tag.name == "style" and tag.attributes.get("style", "").strip())
        or (tag.name == "link" and "stylesheet" in tag.attributes.get("rel", "").lower())
        for tag in parse_tags(source)
    )


def _page_style(source: str) -> str:
    """The style of the body, with legacy colour attributes."""
    for tag in parse_tags(source):
        if tag.name == "body" and not tag.closes:
            given = tag.attributes
            old = (("background-color", given.get("bgcolor")), ("color", given.get("text")))
            return ";".join([*(f"{name}:{value}" for name, value in old if value), given.get("style", "")])
    return ""


def _clean(source: str) -> str:
    import nh3

    return nh3.clean(
        source,
        tags=set(_TAGS.split()),
        attributes=ATTRIBUTES,
        filter_style_properties=set(_STYLES.split()),
        attribute_filter=_without_loads,
        url_schemes=set(),
        link_rel=None,
        strip_comments=True,
    )


def _without_loads(tag: str, name: str, value: str) -> str:
    """Remove the declarations of a style that could load something."""
    if name != "style":
        return value
    return ";".join(each for each in _ADDRESS.sub(" ", value).split(";") if not _LOADS.search(each))


def html_text(source: str) -> str:
    """All text, also what a mail program would hide. Takes linear time."""
    text = unescape(_TAG.sub("", _BLOCK.sub("\n", source)))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
