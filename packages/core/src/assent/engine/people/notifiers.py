"""The ways in which the server itself notifies people: e-mail and web push. Extensions add others."""

from __future__ import annotations

import hashlib
import os
from typing import Final
from urllib.parse import urlsplit

import msgspec

from assent.gate.outcomes import NotSent, OutcomeUnknown
from assent.net.mail_server import Mailbox
from assent.net.webpush import KEY_BYTES, SALT_BYTES, authorize, encrypt, read_subscription
from assent.ports import Notification, NotificationReceipt, NotifierContext

# `email`: notifies by a mail of the server.

WRONG: Final = "Enter one e-mail address, such as ada@example.org."


class MailNotifier:
    kind = "email"
    label = "E-mail"
    hint = "An address, such as ada@example.org"
    by_mail = True
    by_browser = False

    def check(self, ctx: NotifierContext, address: str) -> str:
        try:
            Mailbox.parse(address)
        except ValueError:
            return WRONG
        return WRONG if "<" in address else ""

    def mask(self, address: str) -> str:
        return address

    async def send(
        self, ctx: NotifierContext, address: str, note: Notification, key: str
    ) -> NotificationReceipt:
        try:
            await ctx.send_note(address, note.title, f"{note.text}\n\n{note.link}\n", key)
        except (NotSent, OutcomeUnknown) as error:
            return NotificationReceipt(str(error))
        return NotificationReceipt()


# `webpush`: notifies the browser of one device, by the push service of its maker.
#
# The note is encrypted for the browser (RFC 8291, aes128gcm), so the push service reads nothing. The request is
# signed with the key that the browser subscribed with (VAPID, RFC 8292); that key is part of the stored address
# (`assent.net.webpush`). A later note about the same run replaces the one on the device.

TTL_SECONDS: Final = 24 * 3600
"""How long the push service keeps a note for a device that is off."""
GONE: Final = (404, 410)
UNKNOWN_CONTACT: Final = "mailto:push@assent.invalid"


class WebPushNotifier:
    kind = "webpush"
    label = "This browser"
    hint = ""
    by_mail = False
    by_browser = True

    def check(self, ctx: NotifierContext, address: str) -> str:
        found = read_subscription(address)
        if found is None:
            return "This browser sent no usable subscription. Reload the page and try again."
        return ctx.screen_webhook(found.endpoint) or ""

    def mask(self, address: str) -> str:
        found = read_subscription(address)
        return (urlsplit(found.endpoint).hostname or "") if found else "a browser"

    async def send(
        self, ctx: NotifierContext, address: str, note: Notification, key: str
    ) -> NotificationReceipt:
        found = read_subscription(address)
        if found is None:
            return NotificationReceipt("its subscription cannot be read")
        link = urlsplit(note.link)
        content = {
            "title": note.title,
            "text": note.text,
            # The worker opens a path of its own server only.
            "path": link.path,
            "tag": note.subject or "assent",
            "quiet": note.quiet,
        }
        body = encrypt(
            msgspec.json.encode(content), found.keys, os.urandom(KEY_BYTES), os.urandom(SALT_BYTES)
        )
        contact = f"https://{link.netloc}" if link.scheme == "https" else UNKNOWN_CONTACT
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Encoding": "aes128gcm",
            "TTL": str(TTL_SECONDS),
            "Urgency": "low" if note.quiet else "high",
            # A note that was not delivered yet is replaced by the next one about its subject.
            "Topic": hashlib.sha256(note.subject.encode()).hexdigest()[:32],
            "Authorization": authorize(found, contact, note.at_ms // 1000),
        }
        reply = await ctx.post_webhook(found.endpoint, body, headers)
        if reply.status is not None and 200 <= reply.status < 300:
            return NotificationReceipt()
        if reply.status in GONE:
            return NotificationReceipt("this browser no longer takes notifications", gone=True)
        return NotificationReceipt(reply.detail or f"its push service answered {reply.status}")
