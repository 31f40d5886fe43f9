"""Personal data in actions: contacts, and personal mail, which has few recipients and is not part of a launch.

Personal mail is correspondence. Its claims are not checked as marketing, and neither it nor a contact is stored in the
memory, which every agent of the workspace can read.
"""

from __future__ import annotations

from typing import Any, Final

from assent.gate.cards import is_mail
from assent.gate.preflight import MANY_RECIPIENTS
from assent.gate.records import Action, Effect

CONTACTS: Final = "contacts"
"""The channel of contacts."""

ALONE: Final = "ownWords"
"""Metadata key of a mail that is not part of a launch."""


def is_personal_mail(effect: Effect, metadata: dict[str, Any]) -> bool:
    """Whether an effect is personal mail, by its present recipients and the action's metadata."""
    return _reaches_few(effect) and metadata.get(ALONE) is True


def is_personal(action: Action) -> bool:
    """Whether an action is a contact or personal mail."""
    return action.effect.channel == CONTACTS or is_personal_mail(action.effect, action.metadata)


def may_hold_personal_words(action: Action) -> bool:
    """Whether the text of an action may be about people, which includes an edited mail to few recipients in a
    launch."""
    return is_personal(action) or (_reaches_few(action.effect) and action.revision > 1)


def _reaches_few(effect: Effect) -> bool:
    return is_mail(effect) and len(effect.recipients) <= MANY_RECIPIENTS
