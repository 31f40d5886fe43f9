"""Builds the Resend request of an approved e-mail. Recipients do not see each other.

The same action and revision give the same request, so Resend recognises a repeated key. Resend
composes the e-mail itself. Text that Resend or a mail program might decode or split is quoted where
a standard allows it, else refused.

Imported with the first e-mail, because the standard library's mail package is large.
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any, Final

from assent.net.http_outcomes import refusal
from assent.net.mail_server import Mailbox, parse_mailbox
from assent.platform.connections import Picture
from assent.platform.effects import Action
from assent.platform.values import has_encoded_word, is_one_line
from assent.suite.channels.email.smtp_message import html_part

MAX_RECIPIENTS: Final = 50

_BARE: Final = re.compile(r"\w(?:[\w '-]*\w)?")


def mail(action: Action, default_sender: str, pictures: tuple[Picture, ...] = ()) -> dict[str, Any]:
    """Return the body of the request. Raises `NotSent`."""
    effect = action.effect
    sender, *_ = _boxes("sender", (effect.sender or default_sender,))
    recipients = _boxes("recipients", effect.recipients)
    if not recipients:
        raise refusal("it has no recipients")
    if len(recipients) > MAX_RECIPIENTS:
        raise refusal(
            f"Resend takes at most {MAX_RECIPIENTS} recipients in one mail, this has {len(recipients)}"
        )
    several = len(recipients) > 1
    subject = effect.subject or effect.title
    if not is_one_line(subject) or has_encoded_word(subject):
        raise refusal(
            "subject: it holds a line break, a control character or what mail programs decode (=?…?=)"
        )
    return {
        "from": sender,
        "to": [sender] if several else recipients,
        **({"bcc": recipients} if several else {}),
        "subject": subject,
        "text": effect.body,
        "html": html_part(effect),
        "tags": [{"name": "assent_action", "value": action.action_id}],
        **(
            {"attachments": [_attach(number, each) for number, each in enumerate(pictures, 1)]}
            if pictures
            else {}
        ),
    }


def _attach(number: int, picture: Picture) -> dict[str, str]:
    return {
        "filename": f"picture-{number}.{picture.content_type.rpartition('/')[2]}",
        "content": b64encode(picture.content).decode(),
        "content_type": picture.content_type,
    }


def _boxes(field: str, given: tuple[str, ...]) -> list[str]:
    try:
        found = [parse_mailbox(each) for each in given]
    except ValueError as error:
        raise refusal(f"{field}: {error}") from error
    if any(has_encoded_word(box.name) for box in found):
        raise refusal(f"{field}: a name holds what mail programs decode (=?…?=)")
    return list({box.address: _write_mailbox(box) for box in found}.values())


def _write_mailbox(box: Mailbox) -> str:
    """Return a mailbox, with its name quoted if it could be read as more than words."""
    if not box.name:
        return box.address
    if _BARE.fullmatch(box.name):
        return f"{box.name} <{box.address}>"
    return '"' + box.name.replace("\\", "\\\\") + f'" <{box.address}>'
