"""The server's own e-mails to its people, such as sign-in links and invitations."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.net.mail_server import parse_mailbox, parse_server
from assent.ports import PATIENCE, Clock, Connector, Mailing
from assent.settings.load import Settings


class ServerNotes:
    """Sends through the mail server of the settings, else through the one that the default workspace
    connected on its page."""

    def __init__(
        self, settings: Settings, clock: Clock, connectors: Callable[[], Mapping[str, Connector]]
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._connectors = connectors

    async def can_send(self) -> bool:
        """Whether there is a mail server for notes."""
        if self._settings.smtp_url is not None and self._settings.smtp_from is not None:
            return True
        return await self._find_mailing() is not None

    async def send(self, to: str, subject: str, text: str, key: str) -> None:
        from assent.net.http_outcomes import not_connected
        from assent.net.mail.sending import send_note

        url, written = self._settings.smtp_url, self._settings.smtp_from
        seconds = self._settings.connector_timeout_seconds * PATIENCE
        if url is not None and written is not None:
            server, sender, now_ms = parse_server(url), parse_mailbox(written), self._clock.now_ms()
            await send_note(server, sender, to, subject, text, key=key, now_ms=now_ms, seconds=seconds)
            return
        mailing = await self._find_mailing()
        if mailing is None:
            raise not_connected("This server has no mail server for its own mail.")
        await mailing.mail_note(LOCAL_WORKSPACE, to, subject, text, key, seconds)

    async def _find_mailing(self) -> Mailing | None:
        for each in self._connectors().values():
            if isinstance(each, Mailing) and await each.can_mail_notes(LOCAL_WORKSPACE):
                return each
        return None
