"""Composes the e-mail of an approved effect: text and HTML parts. Imported with the first e-mail,
because the standard library's mail package is large."""

from __future__ import annotations

import re
from html import escape
from typing import Final

from assent.net.http_outcomes import refusal
from assent.net.mail.letters import IntendedMail, Letter, identify, read_mailbox, write_letter
from assent.net.mail_server import Mailbox
from assent.platform.effects import Action, Effect

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


def compose(action: Action, default_sender: Mailbox, now_ms: int) -> Letter:
    """Return the e-mail of an action. Raises a final `NotSent` for unfit content."""
    effect = action.effect
    sender = read_mailbox("sender", effect.sender) if effect.sender else default_sender
    recipients = tuple(read_mailbox("recipients", each) for each in effect.recipients)
    if not recipients:
        raise refusal("it has no recipients")
    if effect.media:
        raise refusal("it has a picture, and this mail server sends only text")
    intended = IntendedMail(
        sender=sender,
        # A single recipient sees their own name; several do not see each other.
        to=recipients[0] if len(recipients) == 1 else None,
        subject=effect.subject or effect.title,
        fixed=identify(action.provider_key, sender, now_ms),
        parts=(("plain", effect.body), ("html", html_part(effect))),
    )
    unique = tuple(dict.fromkeys(each.address for each in recipients))
    return write_letter(intended, unique)


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
