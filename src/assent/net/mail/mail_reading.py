"""Parses a composed e-mail and compares it with the approved content.

Uses the parser of the standard library, independent of the code that composed it. An e-mail that
differs is not sent.
"""

from __future__ import annotations

import re
from email import message_from_bytes
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses
from typing import Final

from assent.kernel.structs import Record
from assent.net.mail_server import Mailbox

MAX_LINE_BYTES: Final = 998

_ILLEGAL: Final = re.compile(rb"(?<!\r)\n|\r(?!\n)|[^\t\r\n -~]")
_FOLD: Final = re.compile(r"\r\n(?=[ \t])")
_BREAK: Final = re.compile(r"\r\n|\r|\n")


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
        if read != _BREAK.sub("\r\n", text).encode():
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
