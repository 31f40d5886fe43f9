"""Real SMTP servers for tests: aiosmtpd where all goes well or is refused, and a scripted one for what breaks."""

from __future__ import annotations

import asyncio
import email
import ssl
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from tests.support.certificates import write_certificate

USER, PASSWORD = "ann", "p@ss/word:1"
CREDENTIALS = "ann:p%40ss%2Fword%3A1"
"""The same, as an address writes them."""


class Inbox:
    """What the server took, and what it refuses."""

    def __init__(self) -> None:
        self.taken: list[Envelope] = []
        self.refused: dict[str, str] = {}
        self.last_word = "250 OK, queued as 4711"

    async def handle_RCPT(  # the library's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.last_word.startswith("250"):
            self.taken.append(envelope)
        return self.last_word

    def message(self) -> EmailMessage:
        """The one mail that was taken, as a mail program reads it."""
        (envelope,) = self.taken
        raw = envelope.original_content
        assert raw is not None
        return email.message_from_bytes(raw, policy=default)

    def raw(self) -> bytes:
        (envelope,) = self.taken
        assert envelope.original_content is not None
        return envelope.original_content


def _authenticate(
    server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
) -> AuthResult:
    known = isinstance(data, LoginPassword) and (data.login, data.password) == (
        USER.encode(),
        PASSWORD.encode(),
    )
    return AuthResult(success=known, handled=False)


@asynccontextmanager
async def mail_server(
    inbox: Inbox,
    *,
    tls: ssl.SSLContext | None = None,
    starttls: ssl.SSLContext | None = None,
    auth: bool = False,
) -> AsyncIterator[int]:
    """The port of a mail server while it is up."""
    loop = asyncio.get_running_loop()

    def protocol() -> SMTP:
        with warnings.catch_warnings():
            # It warns of passwords without encryption, which on loopback is what is wanted here.
            warnings.simplefilter("ignore", UserWarning)
            return made()

    def made() -> SMTP:
        return SMTP(
            inbox,
            hostname="mail.test",
            loop=loop,
            tls_context=starttls,
            require_starttls=starttls is not None,
            authenticator=_authenticate if auth else None,
            auth_required=auth,
            auth_require_tls=False,
        )

    server = await loop.create_server(protocol, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


@asynccontextmanager
async def scripted_server(script: Script) -> AsyncIterator[int]:
    """The port of a server that does what the script says to each connection."""
    open_ones: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def converse() -> None:
            try:
                await script(reader, writer)
            except ConnectionError:
                pass
            finally:
                writer.close()

        task = asyncio.create_task(converse())
        open_ones.add(task)
        task.add_done_callback(open_ones.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in open_ones:
            task.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)


class Certificates:
    """A certificate for 127.0.0.1, and contexts that know it or do not."""

    def __init__(self, directory: Path) -> None:
        chain, private = write_certificate(directory, "127.0.0.1")
        self.server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.server.load_cert_chain(chain, private)
        self.trusting = ssl.create_default_context(cafile=str(chain))
