"""The engine's access to untrusted URLs: bounded and checked, without network exceptions. Imports
are deferred until needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from assent.gate.webhooks import WebhookReply
from assent.kernel.limits import WEBHOOK_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from assent.suite.content.page import Fetched


async def read_product_page(allow_hosts: tuple[str, ...], url: str) -> Fetched:
    """Read a third-party page as data. Returns the reason if that fails."""
    from assent.net.addresses import FetchRefused
    from assent.net.outgoing import fetch_page
    from assent.suite.content.page import Fetched, read_page, read_text

    try:
        fetched = await fetch_page(url, allow_hosts=allow_hosts)
    except FetchRefused as refused:
        return Fetched(problem=str(refused), status=refused.status)
    page = read_text(fetched.text) if fetched.content_type == "text/plain" else read_page(fetched.text)
    return Fetched(page=page, status=200, found_at=fetched.url)


def screen_webhook(allow_hosts: tuple[str, ...], url: str) -> str | None:
    """Why nothing can ever be posted to the URL; None if it may be."""
    from assent.net.addresses import FetchRefused, screen

    try:
        screen(url, allow_hosts=allow_hosts)
    except FetchRefused as refused:
        return str(refused)
    return None


def webhook_host(url: str) -> str:
    from assent.net.addresses import FetchRefused, parse_host

    try:
        return parse_host(url)
    except FetchRefused:
        return ""


async def post_webhook(
    allow_hosts: tuple[str, ...],
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    timeout_seconds: float = WEBHOOK_TIMEOUT_SECONDS,
) -> WebhookReply:
    """Every name is resolved and checked again; redirects are not followed."""
    from assent.net.addresses import FetchRefused
    from assent.net.outgoing import post_json

    try:
        posted = await post_json(
            url, body, headers=headers, allow_hosts=allow_hosts, timeout_seconds=timeout_seconds
        )
    except FetchRefused as refused:
        return WebhookReply(None, refused.why, str(refused))
    return WebhookReply(posted.status)
