"""Personal data in actions: contacts, and mail to named people, which is mail to few recipients and not of a launch.

Such mail is correspondence. Its claims are not checked as marketing, and memory keeps nothing of it or of a contact:
every agent of the workspace reads the memory.
"""

from __future__ import annotations

from typing import Any, Final

from assent.gate.cards import is_mail
from assent.gate.preflight import MANY_RECIPIENTS
from assent.gate.records import Action, Effect

CONTACTS: Final = "contacts"
"""The channel of contacts."""

ALONE: Final = "ownWords"
"""Among the metadata of an action: it is a mail that is not part of a launch."""


def is_personal_mail(effect: Effect, metadata: dict[str, Any]) -> bool:
    """Whether an effect of an action with this metadata is a mail to named people, by its present recipients."""
    return _reaches_few(effect) and metadata.get(ALONE) is True


def is_personal(action: Action) -> bool:
    """Whether an action is a contact or a mail to named people."""
    return action.effect.channel == CONTACTS or is_personal_mail(action.effect, action.metadata)


def may_hold_personal_words(action: Action) -> bool:
    """Whether the present text of an action may be about people: a mail to few that was edited is, even in a launch."""
    return is_personal(action) or (_reaches_few(action.effect) and action.revision > 1)


def _reaches_few(effect: Effect) -> bool:
    return is_mail(effect) and len(effect.recipients) <= MANY_RECIPIENTS
