"""`slack`: notifies by an incoming webhook of Slack or a compatible service."""

from __future__ import annotations

import msgspec

from assent.platform.people import Notification, NotificationReceipt, NotifierContext
from assent.suite.notifiers.webhook import WebhookNotifier, post_note


class SlackNotifier(WebhookNotifier):
    kind = "slack"
    label = "Slack-compatible webhook"
    hint = "The address that Slack, Mattermost or Discord (/slack) gives you"

    async def send(
        self, ctx: NotifierContext, address: str, note: Notification, key: str
    ) -> NotificationReceipt:
        body = msgspec.json.encode({"text": f"*{note.title}*\n{note.text}\n{note.link}"})
        return await post_note(ctx, address, body)
