"""A way to notify people: a doorbell that rings when its address is asked to."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from assent.sdk import Notification, NotificationReceipt, NotifierContext


class Doorbell:
    kind = "doorbell"
    label = "Doorbell"
    hint = "The address at which the bell listens, such as https://bell.example/ring"
    by_mail = False
    by_browser = False

    def __init__(self, sound: str) -> None:
        self._sound = sound

    def check(self, ctx: NotifierContext, address: str) -> str:
        return ctx.screen_webhook(address) or ""

    def mask(self, address: str) -> str:
        return f"{urlsplit(address).hostname}/…"

    async def send(
        self, ctx: NotifierContext, address: str, note: Notification, key: str
    ) -> NotificationReceipt:
        ring = {"sound": self._sound, "title": note.title, "text": note.text, "link": note.link, "key": key}
        reply = await ctx.post_webhook(address, json.dumps(ring).encode(), {})
        if reply.status is not None and 200 <= reply.status < 300:
            return NotificationReceipt()
        return NotificationReceipt(reply.detail or f"The bell answered {reply.status}.")
