"""Reads the page of a product as data for drafts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from assent.suite.content.page import Fetched, read_page, read_text

if TYPE_CHECKING:
    from assent.net.outgoing import FetchedPage


async def read_product_page(fetch: Callable[[str], Awaitable[FetchedPage]], url: str) -> Fetched:
    """Return the page, or the reason why it could not be read. `fetch` applies the SSRF rules."""
    from assent.net.addresses import FetchRefused  # imports httpx

    try:
        fetched = await fetch(url)
    except FetchRefused as refused:
        return Fetched(problem=str(refused), status=refused.status)
    page = read_text(fetched.text) if fetched.content_type == "text/plain" else read_page(fetched.text)
    return Fetched(page=page, status=200, found_at=fetched.url)
