"""Writes an e-mail and hands it to a mail server: a stable Message-ID, a given Date, and the parts.

A control character in a header or SMTP line is refused, and no text is decoded, so content cannot add a
header, a recipient or a second e-mail. What was written is read back and sent only if it says exactly what
was intended. Imported with the first e-mail, because the standard library's mail package is large.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import smtplib
import socket
import ssl
import threading
from base64 import b64encode
from binascii import b2a_base64, b2a_qp
from datetime import UTC, datetime
from email import message_from_bytes
from email.header import decode_header
from email.message import Message
from email.utils import format_datetime, getaddresses
from functools import cache
from typing import Any, Final

import msgspec

from assent.gate.outcomes import MAX_DETAIL_CHARS
from assent.gate.records import Effect
from assent.kernel.structs import Record
from assent.kernel.texts import is_one_line
from assent.net.mail_server import Mailbox, MailServer
from assent.ports import NotConnected, NotSent, OutcomeUnknown

# Parses a composed e-mail and compares it with the approved content.
#
# Uses the parser of the standard library, independent of the code that composed it. An e-mail that differs is not
# sent.

MAX_LINE_BYTES: Final = 998

_ILLEGAL: Final = re.compile(rb"(?<!\r)\n|\r(?!\n)|[^\t\r\n -~]")
_FOLD: Final = re.compile(r"\r\n(?=[ \t])")
_BREAK: Final = re.compile(r"\r\n|\r|\n")


class IntendedMail(Record):
    """The intended content of an e-mail. `to` is empty if recipients do not see each other; `fixed`
    are headers by name."""

    sender: Mailbox
    to: tuple[Mailbox, ...]
    subject: str
    fixed: dict[str, str]
    parts: tuple[tuple[str, str], ...]
    """The texts by format: `plain`, `html`."""
    cc: tuple[Mailbox, ...] = ()
    reply_to: Mailbox | None = None

    @property
    def mailboxes(self) -> dict[str, tuple[Mailbox, ...]]:
        """The headers that hold mailboxes, in their order. `To` is always there."""
        answers = (self.reply_to,) if self.reply_to is not None else ()
        found = {"From": (self.sender,), "Reply-To": answers, "To": self.to, "Cc": self.cc}
        return {name: boxes for name, boxes in found.items() if boxes or name == "To"}


def difference(content: bytes, intended: IntendedMail) -> str | None:
    """Return the first difference between an e-mail and its intended content, or None."""
    if _ILLEGAL.search(content) or max(map(len, content.split(b"\r\n"))) > MAX_LINE_BYTES:
        return "a line that no mail may have"
    message = message_from_bytes(content)
    ours = [*intended.mailboxes, "Subject", *intended.fixed, "MIME-Version", "Content-Type"]
    several = len(intended.parts) > 1
    if message.keys() != (ours if several else [*ours, "Content-Transfer-Encoding"]):
        return "its headers"
    if any(_unfold(message[name]) != value for name, value in intended.fixed.items()):
        return "its headers"
    if _decode(message["Subject"]) != intended.subject:
        return "the subject"
    for name, boxes in intended.mailboxes.items():
        if (message[name] != NOBODY_NAMED) if not boxes else (_mailboxes(message[name]) != boxes):
            return "the sender" if name in ("From", "Reply-To") else "the recipients"
    return _parts_difference(message, intended.parts)


def _parts_difference(message: Message, intended: tuple[tuple[str, str], ...]) -> str | None:
    parts: list[Message] = [message]
    if len(intended) > 1:
        payload = message.get_payload()
        if message.get_content_type() != "multipart/alternative" or not isinstance(payload, list):
            return "its parts"
        parts = [each for each in payload if isinstance(each, Message)]
        if any(each.keys() != ["Content-Type", "Content-Transfer-Encoding"] for each in parts):
            return "its parts"
        if message.preamble or message.epilogue:
            return "its parts"
    if message.defects or len(parts) != len(intended) or any(each.defects for each in parts):
        return "its parts"
    for part, (kind, text) in zip(parts, intended, strict=True):
        read = part.get_payload(decode=True)
        charset = part.get_content_charset()
        if part.get_content_type() != f"text/{kind}" or charset != "utf-8" or not isinstance(read, bytes):
            return "its parts"
        if read != _BREAK.sub("\r\n", text).encode():
            return f"the {kind} text"
    return None


def _mailboxes(value: str) -> tuple[Mailbox, ...]:
    return tuple(Mailbox(_decode(name), address) for name, address in getaddresses([_unfold(value)]))


def _decode(value: str) -> str:
    return "".join(
        piece if isinstance(piece, str) else piece.decode(charset or "ascii")
        for piece, charset in decode_header(_unfold(value))
    )


def _unfold(value: str) -> str:
    return _FOLD.sub("", value)


class Handed(Record):
    """What a mail server took: its last reply, and the recipients that it refused, with its words."""

    reply: str
    refused: dict[str, str] = {}
    message_id: str = ""
    taken: int = 0
    """How many recipients it took."""


class Letter(Record):
    message_id: str
    sender: str
    recipients: tuple[str, ...]
    content: bytes

    @classmethod
    def of_effect(
        cls, effect: Effect, sender: Mailbox, parts: tuple[tuple[str, str], ...], *, key: str, now_ms: int
    ) -> Letter:
        """Return an approved e-mail, by default from this sender. Raises a final `NotSent` for unfit content."""
        sender = _read_mailbox("sender", effect.sender) if effect.sender else sender
        to = tuple(_read_mailbox("recipients", each) for each in effect.recipients)
        cc = tuple(_read_mailbox("cc", each) for each in effect.cc)
        if not to:
            raise NotSent("it has no recipients")
        intended = IntendedMail(
            sender=sender,
            # A single recipient sees their own name; several see each other only if that was approved.
            to=to if len(to) == 1 or effect.is_open else (),
            cc=cc,
            reply_to=_read_mailbox("replyTo", effect.reply_to) if effect.reply_to else None,
            subject=effect.subject or effect.title,
            fixed=_identify(key, sender, now_ms),
            parts=parts,
        )
        return _write_letter(intended, tuple(dict.fromkeys(each.address for each in (*to, *cc))))


def write_note(to: str, subject: str, text: str, key: str, sender: Mailbox, now_ms: int) -> Letter:
    """Return a plain e-mail of the server to one person. Raises `NotSent`."""
    reader = _read_mailbox("to", to)
    whole = text if text.endswith("\n") else f"{text}\n"
    fixed = {**_identify(key, sender, now_ms), "Auto-Submitted": "auto-generated"}
    intended = IntendedMail(sender, (reader,), subject, fixed, (("plain", whole),))
    return _write_letter(intended, (reader.address,))


def _identify(key: str, sender: Mailbox, now_ms: int) -> dict[str, str]:
    """Return the headers by which the same e-mail is recognised."""
    return {
        "Date": format_datetime(datetime.fromtimestamp(now_ms / 1000, UTC), usegmt=True),
        "Message-ID": f"<{key.replace(':', '.')}@{sender.domain}>",
    }


def _write_letter(intended: IntendedMail, recipients: tuple[str, ...]) -> Letter:
    """Write an e-mail and read it back. Raises a final `NotSent` for unfit content."""
    if not is_one_line(intended.subject):
        raise NotSent("subject: it holds a line break or another control character")
    headers = [
        (name, ",\r\n ".join(map(address, boxes)) or NOBODY_NAMED)
        for name, boxes in intended.mailboxes.items()
    ]
    try:
        headers += [("Subject", words(intended.subject)), *intended.fixed.items()]
        content = mail(headers, intended.parts)
        other = difference(content, intended)
    except (ValueError, LookupError) as error:
        raise NotSent(f"it cannot be written as a mail ({type(error).__name__})") from error
    if other is not None:
        raise NotSent(f"the mail would not say what was approved; {other} would be different")
    return Letter(intended.fixed["Message-ID"], intended.sender.address, recipients, content)


def _read_mailbox(field: str, text: str) -> Mailbox:
    """Parse a mailbox. Raises a final `NotSent` that names the field."""
    try:
        return Mailbox.parse(text)
    except ValueError as error:
        raise NotSent(f"{field}: {error}") from error


# Formats an e-mail as bytes (RFC 5322, 2045, 2047) without parsing or decoding any of its text.
#
# Approved text that looks like an encoded word is encoded again, so readers see the same characters. All output is
# seven-bit, and the same values give the same bytes.

BOUNDARY: Final = "=_assent"
"""No line of either part encoding can begin with these characters."""

LINE_CHARS: Final = 76
NOBODY_NAMED: Final = "undisclosed-recipients:;"

_WORDS: Final = re.compile(r"[!-~]+(?: +[!-~]+)*")
_TOO_LONG: Final = re.compile(r"[!-~]{900}")
_WORD_BYTES: Final = 39
"""The bytes that fit into one encoded word beside the longest header name."""


def mail(headers: list[tuple[str, str]], parts: tuple[tuple[str, str], ...]) -> bytes:
    """Return an e-mail's bytes. `parts` has one text, or several formats (`plain`, `html`)."""
    above = [f"{name}: {value}".rstrip(" ") for name, value in (*headers, ("MIME-Version", "1.0"))]
    written = [_part(kind, text) for kind, text in parts]
    if len(written) == 1:
        whole = "\r\n".join([*above, written[0]])
        return (whole if whole.endswith("\r\n") else f"{whole}\r\n").encode("ascii")
    above += [f'Content-Type: multipart/alternative; boundary="{BOUNDARY}"', ""]
    for each in written:
        above += [f"--{BOUNDARY}", each]
    return "\r\n".join([*above, f"--{BOUNDARY}--", ""]).encode("ascii")


def words(text: str) -> str:
    """Return a text as a header value, encoded unless it is unambiguous."""
    if text and (_WORDS.fullmatch(text) is None or "=?" in text or _TOO_LONG.search(text)):
        return _encode_words(text)
    lines = [""]
    for word in re.findall(r" *[^ ]+", text):
        if lines[-1] and len(lines[-1]) + len(word) > LINE_CHARS - len("Subject: "):
            lines.append("")
        lines[-1] += word
    return "\r\n".join(lines)


def address(mailbox: Mailbox) -> str:
    if not mailbox.name:
        return mailbox.address
    if _WORDS.fullmatch(mailbox.name) is None or "=?" in mailbox.name:
        name = _encode_words(mailbox.name)
    else:
        name = '"' + re.sub(r'(["\\])', r"\\\1", mailbox.name) + '"'
    gap = " " if len(name) + len(mailbox.address) < LINE_CHARS - len("Reply-To:  <>,") else "\r\n "
    return f"{name}{gap}<{mailbox.address}>"


def split_lines(text: str) -> str:
    return _BREAK.sub("\r\n", text)


def _encode_words(text: str) -> str:
    pieces = [b""]
    for char in text:
        more = char.encode()
        if len(pieces[-1]) + len(more) > _WORD_BYTES:
            pieces.append(b"")
        pieces[-1] += more
    return "\r\n ".join(f"=?utf-8?b?{b64encode(piece).decode()}?=" for piece in pieces)


def _part(kind: str, text: str) -> str:
    """Return a part with its headers, in the shorter of the two encodings."""
    content = split_lines(text).encode()
    quoted = re.sub(rb"(?<!\r)\n", b"\r\n", b2a_qp(content, istext=True))
    rows = (content[start : start + 57] for start in range(0, len(content), 57))
    coded = b"\r\n".join(b2a_base64(row, newline=False) for row in rows)
    how, written = ("quoted-printable", quoted) if len(quoted) <= len(coded) else ("base64", coded)
    return "\r\n".join(
        [
            f'Content-Type: text/{kind}; charset="utf-8"',
            f"Content-Transfer-Encoding: {how}",
            "",
            written.decode("ascii"),
        ]
    )


class MailClient:
    """Talks to one mail server. `context` has other certificates than those of the system."""

    def __init__(self, server: MailServer, context: ssl.SSLContext | None = None) -> None:
        self._server = server
        self._context = context or _trust()

    async def send(self, letter: Letter, seconds: float) -> Handed:
        """Send a letter to every recipient that the server takes. Raises `NotSent` if it takes none, and
        `OutcomeUnknown`."""
        conversation = Conversation(self._server, letter, context=self._context, timeout=seconds)
        exchange = asyncio.ensure_future(asyncio.to_thread(conversation.run))
        # A cancelled exchange ends later, and no caller reads its result.
        exchange.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        try:
            return await asyncio.wait_for(asyncio.shield(exchange), seconds)
        except TimeoutError as error:
            waited = f"within {seconds:.1f} seconds"
            if conversation.call_off():
                raise NotSent(f"the mail server was not ready {waited}", retry=True) from error
            raise OutcomeUnknown(
                f"no final reply from the mail server {waited}{conversation.but()}"
            ) from error
        except asyncio.CancelledError:
            conversation.call_off()
            raise

    async def send_effect(
        self,
        effect: Effect,
        sender: Mailbox,
        parts: tuple[tuple[str, str], ...],
        *,
        key: str,
        now_ms: int,
        seconds: float,
    ) -> Handed:
        """Send an approved e-mail, by default from this sender. Raises as `Letter.of_effect` and `send` do."""
        # In a thread: composing and checking a long text would block the event loop.
        letter = await asyncio.to_thread(Letter.of_effect, effect, sender, parts, key=key, now_ms=now_ms)
        handed = await self.send(letter, seconds)
        taken = len(letter.recipients) - len(handed.refused)
        return msgspec.structs.replace(handed, message_id=letter.message_id, taken=taken)

    async def check(self, seconds: float) -> None:
        """Sign in and send nothing. Raises `NotSent`."""
        nothing = Letter("", "assent@localhost", (), b"")
        conversation = Conversation(self._server, nothing, context=self._context, timeout=seconds)
        try:
            await asyncio.wait_for(asyncio.to_thread(conversation.check), seconds)
        except TimeoutError:
            conversation.call_off()
            said = f"the mail server did not answer within {seconds:g} seconds"
            raise NotSent(said, retry=True) from None

    async def send_note(
        self, sender: Mailbox, to: str, subject: str, text: str, *, key: str, now_ms: int, seconds: float
    ) -> None:
        """Send a note of the server to one of its people. It is no action, and no agent wrote it.
        Raises `NotSent` and `OutcomeUnknown`."""
        await self.send(write_note(to, subject, text, key, sender, now_ms), seconds)


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()


# Runs one exchange with a mail server in its own thread, and tells what is known about the outcome.
#
# The first byte of the content is the point of no return. Before it nothing was sent; after it only the server's last
# reply counts, and without one the outcome is unknown. A refused recipient does not stop the others: the refusal is
# known before anything is sent, and the answer names it.
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
        self._refused: dict[str, str] = {}

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

    def run(self) -> Handed:
        """Send, and return what the server took. Raises `NotSent` or `OutcomeUnknown`."""
        return self._converse(sends=True)

    def _converse(self, *, sends: bool) -> Handed:
        try:
            smtp = self._connect()
            try:
                self._prepare(smtp)
                return self._send(smtp) if sends else Handed("")
            finally:
                _leave(smtp)
        except (NotSent, OutcomeUnknown):
            raise
        except Exception as error:
            # Disconnects, timeouts, unreadable replies, and the effects of a cancellation on the
            # socket.
            said = f"{type(error).__name__}: {error}"[:MAX_DETAIL_CHARS]
            if self._handing_over:
                raise OutcomeUnknown(f"no final reply from the mail server ({said}){self.but()}") from error
            raise NotSent(f"the mail server cannot be used ({said})", retry=True) from error

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
                raise NotSent("the mail server offers no encryption (STARTTLS)", retry=True)
            smtp.starttls(context=self._context)
            smtp.ehlo_or_helo_if_needed()
        if server.user is None or server.password is None:
            return
        try:
            smtp.login(server.user, server.password)
        except smtplib.SMTPAuthenticationError as error:
            said = _reply(error.smtp_code, error.smtp_error)
            if 400 <= error.smtp_code < 500:
                raise NotSent(f"the mail server cannot sign in anyone now: {said}", retry=True) from error
            raise not_signed_in(said) from error
        except (smtplib.SMTPServerDisconnected, smtplib.SMTPResponseException):
            raise
        except smtplib.SMTPException as error:
            raise not_signed_in("it offers no way to sign in with a password") from error

    def _send(self, smtp: smtplib.SMTP) -> Handed:
        self._envelope(smtp)
        return Handed(self._hand_over(smtp), self._refused)

    def but(self) -> str:
        """The end of a sentence about an unknown outcome: whom the server refused before."""
        return "".join(f"; it refused {who} ({said})" for who, said in self._refused.items())

    def _envelope(self, smtp: smtplib.SMTP) -> None:
        """Announce sender and recipients. Raises a refusal that names each problem if no recipient is left."""
        letter = self._letter
        # Not with smtplib's own methods, which parse an address again.
        code, said = smtp.docmd("MAIL", f"FROM:<{letter.sender}>")
        if code != 250:
            if code in WANTS_SIGN_IN:
                raise not_signed_in(_reply(code, said))
            raise NotSent(
                f"the mail server does not take mail from {letter.sender}: {_reply(code, said)}", retry=True
            )
        refused: list[tuple[str, int, bytes]] = []
        for recipient in letter.recipients:
            code, said = smtp.docmd("RCPT", f"TO:<{recipient}>")
            if code not in (250, 251):
                refused.append((recipient, code, said))
            if code == 421:
                break
        if code == 421:
            raise NotSent(f"the mail server closed the connection: {_reply(code, said)}", retry=True)
        unsigned = [(code, said) for _, code, said in refused if code in WANTS_SIGN_IN]
        if not unsigned and len(refused) < len(letter.recipients):
            self._refused = {recipient: _reply(code, said) for recipient, code, said in refused}
            return
        with contextlib.suppress(smtplib.SMTPException, OSError):
            smtp.rset()
        if unsigned:
            raise not_signed_in(_reply(*unsigned[0]))
        problems = "; ".join(f"{recipient}: {_reply(code, said)}" for recipient, code, said in refused)
        raise NotSent(
            f"every recipient was refused: {problems}"[: MAX_DETAIL_CHARS * 5],
            retry=not any(_final(code) for _, code, _ in refused),
            refused=letter.recipients,
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
        raise OutcomeUnknown(f"the mail server answered {_reply(code, said)}{self.but()}")


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
    return NotConnected(f"the mail server does not accept the user and the password: {detail}")


def _refusal(code: int, said: bytes) -> NotSent:
    """Return the server's refusal of the e-mail: 4xx can be retried, 5xx not."""
    if code in WANTS_SIGN_IN:
        return not_signed_in(_reply(code, said))
    return NotSent(f"the mail server said {_reply(code, said)}", retry=not _final(code))


def _final(code: int) -> bool:
    return 500 <= code < 600


def _reply(code: int, said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return f"{code} {' '.join(text.split())}"[:MAX_DETAIL_CHARS]
