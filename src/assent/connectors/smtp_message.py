"""An approved effect as the bytes of a mail (RFC 5322): text and HTML parts, a stable Message-ID, a given Date.

Everything that becomes a header or an SMTP line is refused when it holds a control character, so that no content can
add a header, a recipient or a second mail. Loaded with the first mail, because the standard library's mail package is
large.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.headerregistry import Address, Group
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from html import escape
from typing import Final

import msgspec

from assent.connectors.mail_server import Mailbox, parse_mailbox
from assent.kernel.refusals import Reason
from assent.lifecycle.records import Action, Effect
from assent.ports import NotSent

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_BARE_BREAK: Final = re.compile(rb"(?<!\r)\n|\r(?!\n)")
_BODY_TAG: Final = re.compile(r"<body\b[^>]*>", re.IGNORECASE)
_POLICY: Final = SMTP.clone(cte_type="7bit")
"""Every server takes seven bits."""

_HIDDEN: Final = (
    '<div style="display:none;max-height:0;overflow:hidden;mso-hide:all" aria-hidden="true">{text}</div>'
)


class Letter(msgspec.Struct, frozen=True):
    """A mail ready to be handed over."""

    message_id: str
    sender: str
    recipients: tuple[str, ...]
    content: bytes


def compose(action: Action, default_sender: Mailbox, now_ms: int) -> Letter:
    """The mail of an action. Raises `NotSent` for good where it cannot be one."""
    effect = action.effect
    sender = _mailbox("sender", effect.sender) if effect.sender else default_sender
    recipients = tuple(_mailbox("recipients", each) for each in effect.recipients)
    if not recipients:
        raise refusal("nobody is named to receive it")
    _refuse_controls("subject", effect.subject)
    message = EmailMessage(policy=_POLICY)
    message_id = f"<{action.provider_key.replace(':', '.')}@{sender.domain}>"
    try:
        message["From"] = _address(sender)
        message["To"] = _shown(recipients)
        message["Subject"] = effect.subject or effect.title
        message["Date"] = format_datetime(datetime.fromtimestamp(now_ms / 1000, UTC), usegmt=True)
        message["Message-ID"] = message_id
        message.set_content(effect.body)
        message.add_alternative(html_part(effect), subtype="html")
        content = message.as_bytes()
    except (ValueError, UnicodeError) as error:
        raise refusal(f"it cannot be written as a mail ({type(error).__name__})") from error
    if _BARE_BREAK.search(content):
        raise refusal("it holds a line break that no mail may have")
    unique = tuple(dict.fromkeys(each.address for each in recipients))
    return Letter(message_id, sender.address, unique, content)


def note(to: str, subject: str, text: str, key: str, sender: Mailbox, now_ms: int) -> Letter:
    """A short note of the server itself, in plain text."""
    reader = _mailbox("to", to)
    _refuse_controls("subject", subject)
    message = EmailMessage(policy=_POLICY)
    message["From"] = _address(sender)
    message["To"] = _address(reader)
    message["Subject"] = subject
    message["Date"] = format_datetime(datetime.fromtimestamp(now_ms / 1000, UTC), usegmt=True)
    message["Message-ID"] = f"<{key.replace(':', '.')}@{sender.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    return Letter(str(message["Message-ID"]), sender.address, (reader.address,), message.as_bytes())


def html_part(effect: Effect) -> str:
    """The HTML that was approved, or the approved text as paragraphs; the preheader first, where inboxes look."""
    html = effect.html or "\n".join(
        f"<p>{'<br>'.join(escape(line) for line in paragraph.splitlines())}</p>"
        for paragraph in re.split(r"\n\s*\n", effect.body.strip())
    )
    if not effect.preheader:
        return html
    hidden = _HIDDEN.format(text=escape(effect.preheader))
    opening = _BODY_TAG.search(html)
    return hidden + html if opening is None else html[: opening.end()] + hidden + html[opening.end() :]


def _shown(recipients: tuple[Mailbox, ...]) -> Address | Group:
    """One reader sees their own name; several do not see each other's."""
    if len(recipients) == 1:
        return _address(recipients[0])
    return Group("undisclosed-recipients", ())


def _address(mailbox: Mailbox) -> Address:
    return Address(mailbox.name, addr_spec=mailbox.address)


def _mailbox(field: str, text: str) -> Mailbox:
    try:
        return parse_mailbox(text)
    except ValueError as error:
        raise refusal(f"{field}: {error}") from error


def _refuse_controls(field: str, text: str) -> None:
    if _CONTROL.search(text):
        raise refusal(f"{field}: it holds a line break or another control character")


def refusal(detail: str) -> NotSent:
    """The content itself is at fault: trying again cannot help, a new action can."""
    return NotSent(Reason.CONNECTOR_FAILED, detail, curable=False)
