"""An approved e-mail as Resend takes it. The same action and revision always ask for the same, so that a repeated key
is recognised. Several recipients do not see each other.

Loaded with the first mail, because the standard library's mail package is large.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

from assent.connectors.mail_server import parse_mailbox
from assent.connectors.resend import TEST_SENDER
from assent.connectors.smtp_message import html_part, refusal
from assent.lifecycle.records import Action
from assent.ports import Picture

MAX_RECIPIENTS: Final = 50
"""What Resend takes in one mail."""


def mail(action: Action, pictures: tuple[Picture, ...] = ()) -> dict[str, Any]:
    """What is asked of Resend. The same action and revision always ask for the same. Raises `NotSent`."""
    effect = action.effect
    sender, *_ = _boxes("sender", (effect.sender or TEST_SENDER,))
    recipients = _boxes("recipients", effect.recipients)
    if not recipients:
        raise refusal("nobody is named to receive it")
    if len(recipients) > MAX_RECIPIENTS:
        raise refusal(
            f"Resend takes at most {MAX_RECIPIENTS} recipients in one mail, this has {len(recipients)}"
        )
    several = len(recipients) > 1
    return {
        "from": sender,
        "to": [sender] if several else recipients,
        **({"bcc": recipients} if several else {}),
        "subject": " ".join((effect.subject or effect.title).split()),
        "text": effect.body,
        "html": html_part(effect),
        "tags": [{"name": "assent_action", "value": action.action_id}],
        **(
            {"attachments": [_attached(number, each) for number, each in enumerate(pictures, 1)]}
            if pictures
            else {}
        ),
    }


def _attached(number: int, picture: Picture) -> dict[str, str]:
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
    by_address = {box.address: f"{box.name} <{box.address}>" if box.name else box.address for box in found}
    return list(by_address.values())
