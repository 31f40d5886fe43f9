"""The engine's access to untrusted URLs: bounded and checked, without network exceptions. Imports
are deferred until needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from assent.gate.webhooks import WebhookReply
from assent.kernel.limits import WEBHOOK_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from assent.net.outgoing import FetchedPage


async def fetch_page(allow_hosts: tuple[str, ...], url: str) -> FetchedPage:
    """Fetch a page at an untrusted URL. Raises `FetchRefused`."""
    from assent.net import outgoing

    return await outgoing.fetch_page(url, allow_hosts=allow_hosts)


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
    return WebhookReply(posted.status, body=posted.body)
