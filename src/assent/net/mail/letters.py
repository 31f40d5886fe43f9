"""Writes an e-mail for a mail server: a stable Message-ID, a given Date, and the parts.

A control character in a header or SMTP line is refused, and no text is decoded (`mail_format`), so
content cannot add a header, a recipient or a second e-mail. The result is read back
(`mail_reading`) and sent only if it says exactly what was intended. Imported with the first e-mail,
because the standard library's mail package is large.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

from assent.kernel.headers import is_one_line
from assent.kernel.structs import Record
from assent.net.http_outcomes import refusal
from assent.net.mail import mail_format
from assent.net.mail.mail_reading import IntendedMail, difference
from assent.net.mail_server import Mailbox, parse_mailbox


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
        ("From", mail_format.address(intended.sender)),
        ("To", mail_format.address(intended.to) if intended.to is not None else mail_format.NOBODY_NAMED),
    ]
    try:
        headers += [("Subject", mail_format.words(intended.subject)), *intended.fixed.items()]
        content = mail_format.mail(headers, intended.parts)
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
