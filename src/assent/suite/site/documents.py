"""The feed as Atom (RFC 4287) and JSON Feed 1.1: same posts, same order, full text, links as
written.

Ids derive from the published action, so that they survive a change of the server's address.
"""

from __future__ import annotations

import re
import uuid
from typing import Final
from xml.etree import ElementTree as Xml

import msgspec

from assent.platform.values import Record, iso_time
from assent.suite.site.feed import FEED_PATH, SitePost, post_path

ATOM: Final = "http://www.w3.org/2005/Atom"
JSON_FEED: Final = "https://jsonfeed.org/version/1.1"

ATOM_TYPE: Final = "application/atom+xml; charset=utf-8"
JSON_TYPE: Final = "application/feed+json; charset=utf-8"

_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot contain, not even escaped."""


class FeedEntry(Record):
    post: SitePost
    html: str


def atom(base_url: str, entries: list[FeedEntry]) -> bytes:
    """Build the Atom document. Needs at least one entry."""
    first = entries[0].post
    home = base_url + FEED_PATH.format(first.workspace_id)
    feed = Xml.Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    _add(feed, "id", f"urn:uuid:{first.workspace_id}")
    _add(feed, "title", first.author)
    _add(feed, "updated", iso_time(first.published_ms))
    _add(feed, "link", rel="self", type="application/atom+xml", href=f"{home}atom.xml")
    _add(feed, "link", rel="alternate", type="text/html", href=home)
    _add(_add(feed, "author"), "name", first.author)
    for entry in entries:
        post = entry.post
        node = _add(feed, "entry")
        _add(node, "id", f"urn:uuid:{_entry_id(post)}")
        _add(node, "title", post.headline)
        _add(node, "published", iso_time(post.published_ms))
        _add(node, "updated", iso_time(post.published_ms))
        _add(node, "link", rel="alternate", type="text/html", href=_url(base_url, post))
        _add(node, "content", entry.html, type="html")
    document: bytes = Xml.tostring(feed, encoding="utf-8")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + document


def json_feed(base_url: str, entries: list[FeedEntry]) -> bytes:
    """Build the JSON Feed. Needs at least one entry."""
    first = entries[0].post
    home = base_url + FEED_PATH.format(first.workspace_id)
    return msgspec.json.encode(
        {
            "version": JSON_FEED,
            "title": first.author,
            "home_page_url": home,
            "feed_url": f"{home}feed.json",
            "authors": [{"name": first.author}],
            "items": [
                {
                    "id": f"urn:uuid:{_entry_id(entry.post)}",
                    "url": _url(base_url, entry.post),
                    **({"title": entry.post.title} if entry.post.title else {}),
                    "content_html": entry.html,
                    "content_text": entry.post.body,
                    "date_published": iso_time(entry.post.published_ms),
                }
                for entry in entries
            ],
        }
    )


def _entry_id(post: SitePost) -> uuid.UUID:
    return uuid.uuid5(uuid.UUID(post.action_id), str(post.revision))


def _url(base_url: str, post: SitePost) -> str:
    return base_url + post_path(post.workspace_id, post.post_id)


def _add(parent: Xml.Element, tag: str, text: str | None = None, **attributes: str) -> Xml.Element:
    node = Xml.SubElement(parent, tag, attributes)
    node.text = _NO_XML.sub("\ufffd", text) if text is not None else None
    return node
