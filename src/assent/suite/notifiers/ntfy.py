"""`ntfy`: notifies by a push to a topic of ntfy or a compatible server."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import msgspec

from assent.platform.people import Notification, NotificationReceipt, NotifierContext
from assent.suite.notifiers.webhook import WebhookNotifier, post_note

QUIET: Final = 2
"""The priority that makes no sound."""


class NtfyNotifier(WebhookNotifier):
    kind = "ntfy"
    label = "ntfy-compatible push"
    hint = "The address of a topic, such as https://ntfy.sh/a-name-hard-to-guess"

    def check(self, ctx: NotifierContext, address: str) -> str:
        problem = super().check(ctx, address)
        if not problem and not urlsplit(address).path.strip("/"):
            return "Name the topic, too, as in https://ntfy.sh/your-topic."
        return problem

    async def send(
        self, ctx: NotifierContext, address: str, note: Notification, key: str
    ) -> NotificationReceipt:
        # A push server takes JSON at its root path; the last part of the address is the topic.
        parts = urlsplit(address)
        path, _, topic = parts.path.rstrip("/").rpartition("/")
        url = urlunsplit((parts.scheme, parts.netloc, path + "/", "", ""))
        message: dict[str, Any] = {
            "topic": topic,
            "title": note.title,
            "message": note.text,
            "click": note.link,
        }
        if note.quiet:
            message["priority"] = QUIET
        return await post_note(ctx, url, msgspec.json.encode(message))
