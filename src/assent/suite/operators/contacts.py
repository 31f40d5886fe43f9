"""Stages contacts that the user wants to keep, as actions of `chieflab-email`: a text to approve
and one effect each."""

from __future__ import annotations

from typing import Final

from assent.platform.effects import Effect
from assent.platform.staging import Draft, Preparation, StagedEffect
from assent.suite.channels.contacts import CHANNEL_ID
from assent.suite.channels.contacts.contact import contact_text

CONNECTOR: Final = "hubspot"
EXECUTE: Final = "chieflab_execute_approved_action"

IF_THERE: Final = "If HubSpot has a contact with this e-mail address, these lines overwrite its fields."


def prepare(contacts: tuple[dict[str, str], ...]) -> Preparation:
    drafts, effects = [], []
    for index, contact in enumerate(contacts):
        body = contact_text(contact)
        name = " ".join(filter(None, (contact.get("firstname"), contact.get("lastname")))) or contact["email"]
        drafts.append(Draft(type="contact", title=name, body=body, channel=CHANNEL_ID))
        effect = Effect(channel=CHANNEL_ID, verb="save", connector=CONNECTOR, title=name, body=body)
        effects.append(
            StagedEffect(effect=effect, executor_tool=EXECUTE, draft=index, recommendations=(IF_THERE,))
        )
    return Preparation(
        drafts=tuple(drafts),
        effects=tuple(effects),
        outputs={"contacts": [each["email"] for each in contacts]},
    )
