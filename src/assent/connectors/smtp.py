"""`smtp`: an approved e-mail goes out through any SMTP server.

SMTP has no key by which a server would recognise a repetition, so a lost outcome is for a human to look into. What it
does have is a clear order of things: until the content is handed over, nothing was sent. What exactly is known when an
exchange breaks is decided in `assent.connectors.smtp_conversation`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from assent.connectors.approved import action_of
from assent.connectors.mail_server import Mailbox, MailServer, parse_mailbox, parse_server
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason
from assent.lifecycle.gate import ApprovedAction
from assent.lifecycle.preflight import Readiness
from assent.lifecycle.records import Effect
from assent.ports import Clock, Delivered, Delivery, NotSent, OutcomeUnknown

if TYPE_CHECKING:
    import ssl

    from assent.connectors.smtp_message import Letter

FIX_HINT: Final = (
    "E-mail needs a mail server. Whoever runs this server sets ASSENT_SMTP_URL (such as "
    "smtp://user:password@mail.example.org:587) and ASSENT_SMTP_FROM (such as Ann <ann@example.org>), and restarts it."
)

NO_SENDER: Final = (
    "A sender can be named now. Call chieflab_retry_blocked_action; the action is approved again then."
)

PATIENCE: Final = 0.9
"""The part of the time that is used: what is known must be known before the caller stops listening."""


class SmtpConnector:
    """Sends through one server, under one name unless the action says another."""

    id = "smtp"
    delivery = Delivery("none")

    def __init__(
        self, url: str | None, sender: str | None, clock: Clock, *, context: ssl.SSLContext | None = None
    ) -> None:
        """`url` and `sender` as the settings have them; both absent until somebody sets them."""
        self._server: MailServer | None = parse_server(url) if url else None
        self._sender = parse_mailbox(sender) if sender else None
        self._written_sender = sender or ""
        self._clock = clock
        self._context = context

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        if self._server is None or self._sender is None:
            return Readiness(ready=False, blocker=Reason.MISSING_CONNECTOR.value, fix_hint=FIX_HINT)
        return Readiness(ready=True)

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        """The effect with the sender that will be used, so that it is shown and approved."""
        return msgspec.structs.replace(effect, sender=effect.sender or self._written_sender)

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        readiness = await self.readiness(workspace_id)
        if not readiness.ready or effect.sender:
            return readiness
        return Readiness(ready=False, blocker=Reason.MISSING_CONNECTOR.value, fix_hint=NO_SENDER)

    async def perform(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered:
        action = action_of(approved)
        _, sender = self._settled()
        from assent.connectors.smtp_message import compose

        # In a thread, because a long text takes longer to write and to read back than others should wait.
        letter = await asyncio.to_thread(compose, action, sender, self._clock.now_ms())
        return await self._hand_over(letter, timeout_seconds)

    async def tell(self, to: str, subject: str, text: str, key: str, timeout_seconds: float) -> None:
        """A note of the server itself to one of its own people: no action, and nothing that an agent wrote."""
        _, sender = self._settled()
        from assent.connectors.smtp_message import note

        letter = note(to, subject, text, key, sender, self._clock.now_ms())
        await self._hand_over(letter, timeout_seconds)

    def _settled(self) -> tuple[MailServer, Mailbox]:
        if self._server is None or self._sender is None:
            raise NotSent(Reason.MISSING_CONNECTOR, FIX_HINT, curable=True)
        return self._server, self._sender

    async def _hand_over(self, letter: Letter, timeout_seconds: float) -> Delivered:
        from assent.connectors.smtp_conversation import Conversation, postponed

        server, _ = self._settled()
        patience = timeout_seconds * PATIENCE
        conversation = Conversation(server, letter, context=self._tls(), timeout=patience)
        exchange = asyncio.ensure_future(asyncio.to_thread(conversation.run))
        # One that is called off ends later, in a way that nobody asks about any more.
        exchange.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        try:
            said = await asyncio.wait_for(asyncio.shield(exchange), patience)
        except TimeoutError as error:
            waited = f"within {patience:g} seconds"
            if conversation.call_off():
                raise postponed(f"the mail server was not ready {waited}") from error
            raise OutcomeUnknown(f"no last word from the mail server {waited}") from error
        except asyncio.CancelledError:
            conversation.call_off()
            raise
        return Delivered(letter.message_id, None, {"reply": said, "recipients": len(letter.recipients)})

    async def look_up(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered | None:
        raise OutcomeUnknown("a mail server cannot be asked what it has sent")

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            import ssl

            self._context = ssl.create_default_context()
        return self._context
