"""Formats an e-mail as bytes (RFC 5322, 2045, 2047) without parsing or decoding any of its text.

Approved text that looks like an encoded word is encoded again, so readers see the same characters.
All output is seven-bit, and the same values give the same bytes.
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import b2a_base64, b2a_qp
from typing import Final

from assent.net.mail_server import Mailbox

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
