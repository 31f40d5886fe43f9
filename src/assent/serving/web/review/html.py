"""The HTML part of a mail as a mail program would show it, for a frame that can do nothing.

Cleaned first: no script, no form, no address to follow or to load from, and of styles only what cannot load anything.
Then locked in twice: the frame has an empty `sandbox`, and the answer brings a policy of its own with `sandbox` in it.
What is left out here is on the page around it, as text, as the list of its links, and as source.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

from assent.serving.web.review.html_links import tags_of

_TAGS: Final = """a abbr b blockquote br center code div em font h1 h2 h3 h4 h5 h6 hr i img li ol p pre s small span
strong sub sup table tbody td tfoot th thead tr u ul"""
ATTRIBUTES: Final[dict[str, set[str]]] = {
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
    """A whole document for the frame."""
    body = _clean(source)
    if style := _page_style(source):
        around, _, end = _clean(f'<div style="{escape(style)}"> </div>').partition(" </div>")
        body = f"{around}{body}</div>" if end == "" else body
    return _FRAME.format(body=body)


def has_style_sheet(source: str) -> bool:
    """Whether mail programs may show it otherwise than the frame does, which takes no rules for the whole."""
    return any(
        (tag.name == "style" and tag.attributes.get("style", "").strip())
        or (tag.name == "link" and "stylesheet" in tag.attributes.get("rel", "").lower())
        for tag in tags_of(source)
    )


def _page_style(source: str) -> str:
    """The style of the whole: what stands at the body, which a frame has of its own."""
    for tag in tags_of(source):
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
    """A style without whatever could load something; a colour beside it stays."""
    if name != "style":
        return value
    return ";".join(each for each in _ADDRESS.sub(" ", value).split(";") if not _LOADS.search(each))
