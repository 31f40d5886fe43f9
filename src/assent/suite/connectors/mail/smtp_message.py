"""Composes the e-mail of an approved effect: text and HTML parts, a stable Message-ID, a given
Date.

A control character in a header or SMTP line is refused, and no text is decoded (`mail_format`), so
content cannot add a header, a recipient or a second e-mail. The result is read back
(`mail_reading`) and sent only if it says exactly what was approved. Imported with the first e-mail,
because the standard library's mail package is large.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from typing import Final

from assent.gate.records import Action, Effect
from assent.kernel.headers import is_one_line
from assent.kernel.structs import Record
from assent.net.mail_server import Mailbox, parse_mailbox
from assent.suite.connectors.http_outcomes import refusal
from assent.suite.connectors.mail import mail_format
from assent.suite.connectors.mail.mail_reading import IntendedMail, difference

_ATTRIBUTES: Final = r"""(?:\s+[\w:-]+(?:=(?:"[^"<>]*"|'[^'<>]*'|[\w:./%#-]+))?)*\s*"""
_OPENING: Final = re.compile(
    rf"""\s*(?:<!doctype\ html>\s*)?(?:<html{_ATTRIBUTES}>\s*)?
    (?:<head>\s*(?:(?:<meta{_ATTRIBUTES}/?>|<title>[^<>]*</title>)\s*)*</head>\s*)?
    <body{_ATTRIBUTES}>""",
    re.IGNORECASE | re.VERBOSE,
)
"""The beginning of a document that every mail program parses alike. The preheader is inserted after
it, never inside a comment, script or attribute."""

_HIDDEN: Final = (
    '<div style="display:none;max-height:0;overflow:hidden;mso-hide:all" aria-hidden="true">{text}</div>'
)


class Letter(Record):
    message_id: str
    sender: str
    recipients: tuple[str, ...]
    content: bytes


def compose(action: Action, default_sender: Mailbox, now_ms: int) -> Letter:
    """Return the e-mail of an action. Raises a final `NotSent` for unfit content."""
    effect = action.effect
    sender = _mailbox("sender", effect.sender) if effect.sender else default_sender
    recipients = tuple(_mailbox("recipients", each) for each in effect.recipients)
    if not recipients:
        raise refusal("it has no recipients")
    if effect.media:
        raise refusal("it has a picture, and this mail server sends only text")
    intended = IntendedMail(
        sender=sender,
        # A single recipient sees their own name; several do not see each other.
        to=recipients[0] if len(recipients) == 1 else None,
        subject=effect.subject or effect.title,
        fixed=_identify(action.provider_key, sender, now_ms),
        parts=(("plain", effect.body), ("html", html_part(effect))),
    )
    unique = tuple(dict.fromkeys(each.address for each in recipients))
    return Letter(intended.fixed["Message-ID"], sender.address, unique, _write(intended))


def note(to: str, subject: str, text: str, key: str, sender: Mailbox, now_ms: int) -> Letter:
    reader = _mailbox("to", to)
    whole = text if text.endswith("\n") else f"{text}\n"
    fixed = {**_identify(key, sender, now_ms), "Auto-Submitted": "auto-generated"}
    intended = IntendedMail(sender, reader, subject, fixed, (("plain", whole),))
    return Letter(fixed["Message-ID"], sender.address, (reader.address,), _write(intended))


def _identify(key: str, sender: Mailbox, now_ms: int) -> dict[str, str]:
    return {
        "Date": format_datetime(datetime.fromtimestamp(now_ms / 1000, UTC), usegmt=True),
        "Message-ID": f"<{key.replace(':', '.')}@{sender.domain}>",
    }


def _write(intended: IntendedMail) -> bytes:
    """Return the bytes of an e-mail after reading them back."""
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
    return content


def html_part(effect: Effect) -> str:
    """Return the approved HTML, or the text as paragraphs, with the preheader first."""
    html = effect.html or "\n".join(
        f"<p>{'<br>'.join(escape(line) for line in paragraph.splitlines())}</p>"
        for paragraph in re.split(r"\n\s*\n", effect.body.strip())
    )
    text = escape(effect.preheader)
    if not text or f">{text}</div>" in html:
        return html
    opening = _OPENING.match(html)
    place = opening.end() if opening is not None else 0
    return html[:place] + _HIDDEN.format(text=text) + html[place:]


def _mailbox(field: str, text: str) -> Mailbox:
    try:
        return parse_mailbox(text)
    except ValueError as error:
        raise refusal(f"{field}: {error}") from error
