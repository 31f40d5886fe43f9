"""Posts a note to a URL whose path is its secret."""

from __future__ import annotations

from urllib.parse import urlsplit

from assent.platform.people import NotificationReceipt, NotifierContext


class WebhookNotifier:
    by_mail = False
    by_browser = False

    def check(self, ctx: NotifierContext, address: str) -> str:
        if not address.startswith(("https://", "http://")):
            return "Enter the whole address, beginning with https://."
        return ctx.screen_webhook(address) or ""

    def mask(self, address: str) -> str:
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.netloc}/…"


async def post_note(ctx: NotifierContext, url: str, body: bytes) -> NotificationReceipt:
    """Post a note."""
    reply = await ctx.post_webhook(url, body, {})
    if reply.status is not None and 200 <= reply.status < 300:
        return NotificationReceipt()
    return NotificationReceipt(reply.detail or f"it answered {reply.status}")
