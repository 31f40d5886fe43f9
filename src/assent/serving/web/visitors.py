"""Whether a request is a person looking at a page, as far as a server can tell without watching people.

Programs that say what they are, previews, prefetches and embedded loads do not count. One that pretends to be a browser
does; a count is a count of what looked like a person, and is said to be.
"""

from __future__ import annotations

import re
from typing import Final

from starlette.requests import Request

from assent.serving.guard import client_address

PROGRAMS: Final = re.compile(
    r"bot\b|bot[/;_-]|crawl|spider|slurp|preview|externalhit|embed|fetch|scan|monitor|uptime|probe|headless|phantom"
    r"|lighthouse|archiver|validator|feed|rss|reader|curl|wget|python|java/|okhttp|go-http|libwww|perl|ruby|php|axios"
    r"|node|http-?client|httpx|aiohttp|postman|insomnia|whatsapp|telegram|slack|discord|skype|mastodon|iframely",
    re.IGNORECASE,
)
"""Words by which programs name themselves; no browser of a person has one of them."""

AHEAD: Final = re.compile(r"prefetch|prerender|preview", re.IGNORECASE)
AHEAD_HEADERS: Final = ("sec-purpose", "purpose", "x-purpose", "x-moz")


def visitor_of(request: Request, *, trust_proxy: bool) -> str | None:
    """What tells this visitor from another for a day, or None where nobody is looking."""
    headers = request.headers
    agent = headers.get("user-agent", "")
    if request.method != "GET" or not agent or PROGRAMS.search(agent):
        return None
    if any(AHEAD.search(headers.get(name, "")) for name in AHEAD_HEADERS):
        return None
    if headers.get("sec-fetch-dest", "document") != "document":
        return None
    return f"{client_address(request.scope, trust_proxy=trust_proxy)}\0{agent}"
