"""The effect types of e-mail."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent import Effect, View
from assent.platform import ByHand, ConnectorInfo, Preview, Repair, Scene, Unfit
from assent.sdk import MANY_RECIPIENTS
from assent_launch.channels.email import CHANNEL
from assent_launch.effect_types import MAIL, SEND, make_types

MISSING_RECIPIENTS: Final = "recipients_missing"
_WHO: Final = "who gets it"


def find_unfit(effect: Effect, connector: ConnectorInfo) -> Unfit | None:
    """Return why a mail can never be delivered as it is."""
    name = Repair("chieflab_edit_action", "the user said who gets it", needs={"to": _WHO})
    if not effect.recipients:
        return Unfit(
            MISSING_RECIPIENTS,
            "It has no recipients. Tell me who gets it.",
            "It has no recipients. Press “Edit” and add whom it goes to.",
            name,
        )
    most = connector.most_recipients
    if most is not None and len(effect.everyone) > most:
        said = f"The mail service takes at most {most} recipients in one mail. Name fewer."
        return Unfit("too_many_recipients", said, repair=name)
    if effect.media and not connector.sends_pictures:
        said = "It has a picture, and this mail service sends only text. Remove the picture."
        drop = Repair(
            "chieflab_edit_action", "the user agrees to leave the picture out", {"imageAssetId": ""}
        )
        return Unfit("picture_cannot_be_sent", said, repair=drop)
    return None


def describe_mail(view: View, effect: Effect, scene: Scene) -> View:
    sender = f" from {effect.sender_in_ascii}" if effect.sender else ""
    people = effect.people
    count = len(effect.everyone)
    first = effect.everyone[0] if count == 1 else f"{count} people"
    given = {"cc": list(effect.cc), "replyTo": effect.reply_to, "visible": effect.visible}
    args: dict[str, Any] = {"to": list(effect.recipients), "subject": effect.subject}
    args |= {name: value for name, value in given.items() if value}
    return msgspec.structs.replace(
        view,
        sentence=f"Sends this to {people}{sender} through {scene.connector.name_inside}.",
        destination=f"To {people}",
        outcome=f"Sent to {first}: “{effect.subject}”.",
        preview=Preview("mail"),
        mail=True,
        receipt="messageId",
        again=Repair("chieflab_send", "the user wants another version", args, {"body": "the new text"}),
    )


def find_mail_form(effect: Effect) -> ByHand | None:
    """Return the form of a mail program, without the advice to hide people who see each other."""
    form = CHANNEL.by_hand
    return msgspec.structs.replace(form, advice=()) if form is not None and effect.is_open else form


TYPES: Final = make_types(
    CHANNEL,
    MAIL,
    noun="E-mail",
    common_noun=True,
    done="Sent",
    operator="chieflab-email",
    tool="chieflab_send",
    executor_tool=SEND,
    why=lambda effect: (
        f"It goes to at most {MANY_RECIPIENTS} people." if effect.recipients else "It has no recipients yet."
    ),
    describe=describe_mail,
    without=("amount", "arguments"),
    unfit=find_unfit,
    by_hand=find_mail_form,
    personal="few",
)
