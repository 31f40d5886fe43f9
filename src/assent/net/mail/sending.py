"""Hands a letter to a mail server and waits for the outcome. Imported with the first e-mail."""

from __future__ import annotations

import asyncio
import ssl
from functools import cache

from assent.net.http_outcomes import not_now
from assent.net.mail.letters import Letter, write_note
from assent.net.mail.smtp_conversation import Conversation
from assent.net.mail_server import Mailbox, MailServer
from assent.ports import OutcomeUnknown


async def send_letter(
    server: MailServer, letter: Letter, seconds: float, *, context: ssl.SSLContext | None = None
) -> str:
    """Send a letter and return the server's last reply. Raises `NotSent` and `OutcomeUnknown`."""
    conversation = Conversation(server, letter, context=context or _trust(), timeout=seconds)
    exchange = asyncio.ensure_future(asyncio.to_thread(conversation.run))
    # A cancelled exchange ends later, and no caller reads its result.
    exchange.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    try:
        return await asyncio.wait_for(asyncio.shield(exchange), seconds)
    except TimeoutError as error:
        waited = f"within {seconds:.1f} seconds"
        if conversation.call_off():
            raise not_now(f"the mail server was not ready {waited}") from error
        raise OutcomeUnknown(f"no final reply from the mail server {waited}") from error
    except asyncio.CancelledError:
        conversation.call_off()
        raise


async def check_server(server: MailServer, seconds: float, *, context: ssl.SSLContext | None = None) -> None:
    """Sign in at a mail server and send nothing. Raises `NotSent`."""
    nothing = Letter("", "assent@localhost", (), b"")
    conversation = Conversation(server, nothing, context=context or _trust(), timeout=seconds)
    try:
        await asyncio.wait_for(asyncio.to_thread(conversation.check), seconds)
    except TimeoutError:
        conversation.call_off()
        raise not_now(f"the mail server did not answer within {seconds:g} seconds") from None


async def send_note(
    server: MailServer,
    sender: Mailbox,
    to: str,
    subject: str,
    text: str,
    *,
    key: str,
    now_ms: int,
    seconds: float,
    context: ssl.SSLContext | None = None,
) -> None:
    """Send a note of the server to one of its people. It is no action, and no agent wrote it.
    Raises `NotSent` and `OutcomeUnknown`."""
    letter = write_note(to, subject, text, key, sender, now_ms)
    await send_letter(server, letter, seconds, context=context)


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()
