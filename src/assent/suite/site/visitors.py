"""Decides whether a request counts as a page view, without tracking people.

Bots, link previews, prefetches and embedded loads do not count. A bot that does not identify itself
does, so the count is labelled as successful views.
"""

from __future__ import annotations

import re
from typing import Final

from starlette.requests import Request

BOTS: Final = re.compile(
    r"bot\b|bot[/;_-]|crawl|spider|slurp|preview|externalhit|embed|scan|monitor|uptime|probe|lighthouse|archiver"
    r"|validator|feed|rss|reader|whatsapp|telegram|slack|discord|skype|mastodon|iframely",
    re.IGNORECASE,
)
"""Words by which bots identify themselves. No browser uses them."""

AHEAD: Final = re.compile(r"prefetch|prerender|preview", re.IGNORECASE)
AHEAD_HEADERS: Final = ("sec-purpose", "purpose", "x-purpose", "x-moz")


def is_view(request: Request) -> bool:
    headers = request.headers
    agent = headers.get("user-agent", "")
    if request.method != "GET" or not agent or BOTS.search(agent):
        return False
    if any(AHEAD.search(headers.get(name, "")) for name in AHEAD_HEADERS):
        return False
    return headers.get("sec-fetch-dest", "document") == "document"
