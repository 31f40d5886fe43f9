"""Writes an e-mail for a mail server: a stable Message-ID, a given Date, and the parts.

A control character in a header or SMTP line is refused, and no text is decoded (`mail_format`), so
content cannot add a header, a recipient or a second e-mail. The result is read back
(`mail_reading`) and sent only if it says exactly what was intended. Imported with the first e-mail,
because the standard library's mail package is large.
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import b2a_base64, b2a_qp
from datetime import UTC, datetime
from email import message_from_bytes
from email.header import decode_header
from email.message import Message
from email.utils import format_datetime, getaddresses
from typing import Final

from assent.kernel.headers import is_one_line
from assent.kernel.structs import Record
from assent.net.http_outcomes import refusal
from assent.net.mail_server import Mailbox, parse_mailbox

# Parses a composed e-mail and compares it with the approved content.
#
# Uses the parser of the standard library, independent of the code that composed it. An e-mail that differs is not
# sent.

MAX_LINE_BYTES: Final = 998

_ILLEGAL: Final = re.compile(rb"(?<!\r)\n|\r(?!\n)|[^\t\r\n -~]")
_FOLD: Final = re.compile(r"\r\n(?=[ \t])")
_BREAK_MAIL_READING: Final = re.compile(r"\r\n|\r|\n")


class IntendedMail(Record):
    """The intended content of an e-mail. `to` is None if recipients do not see each other; `fixed`
    are headers by name."""

    sender: Mailbox
    to: Mailbox | None
    subject: str
    fixed: dict[str, str]
    parts: tuple[tuple[str, str], ...]
    """The texts by format: `plain`, `html`."""


def difference(content: bytes, intended: IntendedMail) -> str | None:
    """Return the first difference between an e-mail and its intended content, or None."""
    if _ILLEGAL.search(content) or max(map(len, content.split(b"\r\n"))) > MAX_LINE_BYTES:
        return "a line that no mail may have"
    message = message_from_bytes(content)
    ours = ["From", "To", "Subject", *intended.fixed, "MIME-Version", "Content-Type"]
    several = len(intended.parts) > 1
    if message.keys() != (ours if several else [*ours, "Content-Transfer-Encoding"]):
        return "its headers"
    if any(_unfold(message[name]) != value for name, value in intended.fixed.items()):
        return "its headers"
    if _decode(message["Subject"]) != intended.subject:
        return "the subject"
    if _mailboxes(message["From"]) != [intended.sender]:
        return "the sender"
    if intended.to is None:
        if message["To"] != "undisclosed-recipients:;":
            return "the recipients"
    elif _mailboxes(message["To"]) != [intended.to]:
        return "the recipients"
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
        if read != _BREAK_MAIL_READING.sub("\r\n", text).encode():
            return f"the {kind} text"
    return None


def _mailboxes(value: str) -> list[Mailbox]:
    return [Mailbox(_decode(name), address) for name, address in getaddresses([_unfold(value)])]


def _decode(value: str) -> str:
    return "".join(
        piece if isinstance(piece, str) else piece.decode(charset or "ascii")
        for piece, charset in decode_header(_unfold(value))
    )


def _unfold(value: str) -> str:
    return _FOLD.sub("", value)


class Letter(Record):
    message_id: str
    sender: str
    recipients: tuple[str, ...]
    content: bytes


def write_note(to: str, subject: str, text: str, key: str, sender: Mailbox, now_ms: int) -> Letter:
    """Return a plain e-mail of the server to one person. Raises `NotSent`."""
    reader = read_mailbox("to", to)
    whole = text if text.endswith("\n") else f"{text}\n"
    fixed = {**identify(key, sender, now_ms), "Auto-Submitted": "auto-generated"}
    intended = IntendedMail(sender, reader, subject, fixed, (("plain", whole),))
    return write_letter(intended, (reader.address,))


def identify(key: str, sender: Mailbox, now_ms: int) -> dict[str, str]:
    """Return the headers by which the same e-mail is recognised."""
    return {
        "Date": format_datetime(datetime.fromtimestamp(now_ms / 1000, UTC), usegmt=True),
        "Message-ID": f"<{key.replace(':', '.')}@{sender.domain}>",
    }


def write_letter(intended: IntendedMail, recipients: tuple[str, ...]) -> Letter:
    """Write an e-mail and read it back. Raises a final `NotSent` for unfit content."""
    if not is_one_line(intended.subject):
        raise refusal("subject: it holds a line break or another control character")
    headers = [
        ("From", address(intended.sender)),
        ("To", address(intended.to) if intended.to is not None else NOBODY_NAMED),
    ]
    try:
        headers += [("Subject", words(intended.subject)), *intended.fixed.items()]
        content = mail(headers, intended.parts)
        other = difference(content, intended)
    except (ValueError, LookupError) as error:
        raise refusal(f"it cannot be written as a mail ({type(error).__name__})") from error
    if other is not None:
        raise refusal(f"the mail would not say what was approved; {other} would be different")
    return Letter(intended.fixed["Message-ID"], intended.sender.address, recipients, content)


def read_mailbox(field: str, text: str) -> Mailbox:
    """Parse a mailbox. Raises a final `NotSent` that names the field."""
    try:
        return parse_mailbox(text)
    except ValueError as error:
        raise refusal(f"{field}: {error}") from error


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
_BREAK: Final = re.compile(r"\r\n|\r|\n")
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
    gap = " " if len(name) + len(mailbox.address) < LINE_CHARS - len("From:  <>") else "\r\n "
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
