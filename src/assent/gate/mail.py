"""Mail, and personal data: contacts, and personal mail, which has few recipients and is not part of
a launch.

Personal mail is correspondence. Its claims are not checked as marketing, and neither it nor a
contact is stored in the memory, which every agent of the workspace can read.
"""

from __future__ import annotations

from typing import Any, Final

from assent.gate.preflight import MANY_RECIPIENTS
from assent.gate.records import Action, Effect
from assent.gate.step_calls import WORKFLOW

MAIL_VERBS: Final = frozenset({"email", "send"})

CONTACTS: Final = "contacts"
"""The channel of contacts."""

ALONE: Final = "ownWords"
"""Metadata key of a mail that is not part of a launch."""


def is_mail(effect: Effect) -> bool:
    return effect.verb in MAIL_VERBS


def is_personal_mail(effect: Effect, metadata: dict[str, Any]) -> bool:
    """Whether an effect is personal mail, by its present recipients and the action's metadata."""
    return _reaches_few(effect) and metadata.get(ALONE) is True


def is_personal(action: Action) -> bool:
    """Whether an action is a contact or personal mail."""
    return action.effect.channel == CONTACTS or is_personal_mail(action.effect, action.metadata)


def keeps_text(action: Action) -> bool:
    """Whether the memory keeps a decision with the present text. The text of an edited mail to few
    recipients may be about people, also in a launch."""
    return keeps_requests(action) and not (_reaches_few(action.effect) and action.revision > 1)


def keeps_requests(action: Action) -> bool:
    """Whether memory keeps a request for later drafts: not about steps or personal data."""
    return action.effect.connector != WORKFLOW and not is_personal(action)


def _reaches_few(effect: Effect) -> bool:
    return is_mail(effect) and len(effect.recipients) <= MANY_RECIPIENTS
