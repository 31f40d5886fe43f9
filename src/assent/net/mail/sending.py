"""Hands a letter to a mail server and waits for the outcome. Imported with the first e-mail."""

from __future__ import annotations

import asyncio
import contextlib
import re
import smtplib
import socket
import ssl
import threading
from functools import cache
from typing import Any, Final

from assent.kernel.refusals import Reason
from assent.net.http_outcomes import MAX_DETAIL_CHARS, not_connected, not_now
from assent.net.mail.letters import Letter, write_note
from assent.net.mail_server import Mailbox, MailServer
from assent.ports import NotSent, OutcomeUnknown


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


# Runs one exchange with a mail server in its own thread, and tells what is known about the outcome.
#
# The first byte of the content is the point of no return. Before it nothing was sent; after it only the server's last
# reply counts, and without one the outcome is unknown. If one recipient is refused, none gets the e-mail: a partial
# mailing that looks complete is worse than none.
#
# The caller may cancel at any time from another thread and learns on which side of that point the exchange was.

WANTS_SIGN_IN: Final = frozenset({530, 534, 535, 538})
"""Replies about the account, not the e-mail (RFC 4954)."""

_LINE_DOT: Final = re.compile(rb"(?m)^\.")


class CalledOff(Exception):  # noqa: N818 - what happened
    """The caller has stopped waiting."""


class Conversation:
    """Sends one letter. `run` blocks; `call_off` may be called from another thread."""

    def __init__(
        self, server: MailServer, letter: Letter, *, context: ssl.SSLContext, timeout: float
    ) -> None:
        self._server = server
        self._letter = letter
        self._context = context
        self._timeout = timeout
        self._turn = threading.Lock()
        self._called_off = False
        self._handing_over = False
        self._smtp: smtplib.SMTP | None = None

    def call_off(self) -> bool:
        """Cancel. Returns True if nothing was sent and nothing will be."""
        with self._turn:
            self._called_off = True
            # Not `sock.shutdown`, which is not thread-safe on a TLS socket.
            if self._smtp is not None and (sock := self._smtp.sock) is not None:
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)
            return not self._handing_over

    def check(self) -> None:
        """Sign in and disconnect; sends nothing. Raises `NotSent`."""
        self._converse(sends=False)

    def run(self) -> str:
        """Send, and return the server's last reply. Raises `NotSent` or `OutcomeUnknown`."""
        return self._converse(sends=True)

    def _converse(self, *, sends: bool) -> str:
        try:
            smtp = self._connect()
            try:
                self._prepare(smtp)
                return self._send(smtp) if sends else ""
            finally:
                _leave(smtp)
        except (NotSent, OutcomeUnknown):
            raise
        except Exception as error:
            # Disconnects, timeouts, unreadable replies, and the effects of a cancellation on the
            # socket.
            said = f"{type(error).__name__}: {error}"[:MAX_DETAIL_CHARS]
            if self._handing_over:
                raise OutcomeUnknown(f"no final reply from the mail server ({said})") from error
            raise not_now(f"the mail server cannot be used ({said})") from error

    def _connect(self) -> smtplib.SMTP:
        server, timeout = self._server, self._timeout
        # Without a name smtplib would ask the DNS for one.
        name = self._letter.sender.rpartition("@")[2]
        if server.encryption == "tls":
            smtp: _Plain = _Encrypted(server, name, timeout=timeout, context=self._context)
        else:
            smtp = _Plain(server, name, timeout=timeout)
        with self._turn:
            if not self._called_off:
                self._smtp = smtp
                return smtp
        smtp.close()
        raise CalledOff

    def _prepare(self, smtp: smtplib.SMTP) -> None:
        """Encrypt and sign in, as the server's URL demands."""
        server = self._server
        smtp.ehlo_or_helo_if_needed()
        if server.encryption == "starttls":
            if not smtp.has_extn("starttls"):
                raise not_now("the mail server offers no encryption (STARTTLS)")
            smtp.starttls(context=self._context)
            smtp.ehlo_or_helo_if_needed()
        if server.user is None or server.password is None:
            return
        try:
            smtp.login(server.user, server.password)
        except smtplib.SMTPAuthenticationError as error:
            said = _reply(error.smtp_code, error.smtp_error)
            if 400 <= error.smtp_code < 500:
                raise not_now(f"the mail server cannot sign in anyone now: {said}") from error
            raise not_signed_in(said) from error
        except (smtplib.SMTPServerDisconnected, smtplib.SMTPResponseException):
            raise
        except smtplib.SMTPException as error:
            raise not_signed_in("it offers no way to sign in with a password") from error

    def _send(self, smtp: smtplib.SMTP) -> str:
        self._envelope(smtp)
        return self._hand_over(smtp)

    def _envelope(self, smtp: smtplib.SMTP) -> None:
        """Announce sender and recipients. Raises a refusal that names each problem."""
        letter = self._letter
        # Not with smtplib's own methods, which parse an address again.
        code, said = smtp.docmd("MAIL", f"FROM:<{letter.sender}>")
        if code != 250:
            if code in WANTS_SIGN_IN:
                raise not_signed_in(_reply(code, said))
            raise not_now(f"the mail server does not take mail from {letter.sender}: {_reply(code, said)}")
        refused: list[tuple[str, int, bytes]] = []
        for recipient in letter.recipients:
            code, said = smtp.docmd("RCPT", f"TO:<{recipient}>")
            if code not in (250, 251):
                refused.append((recipient, code, said))
            if code == 421:
                break
        if not refused:
            return
        with contextlib.suppress(smtplib.SMTPException, OSError):
            smtp.rset()
        if any(code in WANTS_SIGN_IN for _, code, _ in refused):
            raise not_signed_in(_reply(*refused[0][1:]))
        problems = "; ".join(f"{recipient}: {_reply(code, said)}" for recipient, code, said in refused)
        raise NotSent(
            Reason.CONNECTOR_FAILED,
            f"nothing was sent, because {len(refused)} of {len(letter.recipients)} recipients were refused: "
            f"{problems}"[: MAX_DETAIL_CHARS * 5],
            curable=not any(_final(code) for _, code, _ in refused),
        )

    def _hand_over(self, smtp: smtplib.SMTP) -> str:
        code, said = smtp.docmd("DATA")
        if code != 354:
            raise _refusal(code, said)
        content = _LINE_DOT.sub(b"..", self._letter.content)
        with self._turn:
            if self._called_off:
                raise CalledOff
            self._handing_over = True
        smtp.send(content if content.endswith(b"\r\n") else content + b"\r\n")
        smtp.send(b".\r\n")
        code, said = smtp.getreply()
        if code == 250:
            return _reply(code, said)
        if 400 <= code < 600:
            raise _refusal(code, said)
        raise OutcomeUnknown(f"the mail server answered {_reply(code, said)}")


class _Plain(smtplib.SMTP):
    """Connects to the checked IP; the certificate must match the host name."""

    def __init__(self, server: MailServer, name: str, **options: Any) -> None:
        self._number = server.number or server.host
        super().__init__(server.host, server.port, name, **options)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        made: socket.socket = super()._get_socket(self._number, port, timeout)  # type: ignore[misc]
        return made


class _Encrypted(_Plain, smtplib.SMTP_SSL):
    """Like `_Plain`, with TLS from the first byte."""


def _leave(smtp: smtplib.SMTP) -> None:
    """Send QUIT without waiting for the reply, which no longer changes the outcome."""
    with contextlib.suppress(smtplib.SMTPException, OSError):
        smtp.putcmd("QUIT")
    smtp.close()


def not_signed_in(detail: str) -> NotSent:
    return not_connected(f"the mail server does not accept the user and the password: {detail}")


def _refusal(code: int, said: bytes) -> NotSent:
    """Return the server's refusal of the e-mail: 4xx can be retried, 5xx not."""
    if code in WANTS_SIGN_IN:
        return not_signed_in(_reply(code, said))
    return NotSent(
        Reason.CONNECTOR_FAILED, f"the mail server said {_reply(code, said)}", curable=not _final(code)
    )


def _final(code: int) -> bool:
    return 500 <= code < 600


def _reply(code: int, said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return f"{code} {' '.join(text.split())}"[:MAX_DETAIL_CHARS]
