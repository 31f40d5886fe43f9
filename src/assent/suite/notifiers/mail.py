"""`email`: notifies by a mail of the server."""

from __future__ import annotations

from typing import Final

from assent.net.mail_server import parse_mailbox
from assent.platform.connections import NotSent, OutcomeUnknown
from assent.platform.people import Notification, NotificationReceipt, NotifierContext

WRONG: Final = "Enter one e-mail address, such as ada@example.org."


class MailNotifier:
    kind = "email"
    label = "E-mail"
    hint = "An address, such as ada@example.org"
    by_mail = True
    by_browser = False

    def check(self, ctx: NotifierContext, address: str) -> str:
        try:
            parse_mailbox(address)
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
