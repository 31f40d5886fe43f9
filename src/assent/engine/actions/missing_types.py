"""Actions whose effect type is not registered any more, because its extension was removed, or means
something else than when they were prepared.

They are shown from their stored view. They can be rejected and withdrawn, and nothing else. A type
stays the same for the life of an action and of a process, so these checks may run before a
transaction.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.actions.unsent import refuse_not_live
from assent.gate.effects import EffectTypes
from assent.gate.records import Action, Status
from assent.gate.refusal_words import describe_changed_type, describe_missing_type
from assent.gate.views import Unfit
from assent.kernel.refusals import Words

GATE: Final = "type_missing"
OPEN: Final = (Status.AWAITING_APPROVAL, Status.APPROVED)
FIXED: Final = "one whose extension is not installed, or has changed"


def refuse_missing_type(effects: EffectTypes, action: Action) -> None:
    """Raise `Refusal` for an action whose type is missing or has changed."""
    if (words := _describe(effects, action)) is not None:
        raise refuse_not_live(action, words)


def explain_missing_type(effects: EffectTypes, action: Action) -> str:
    """Return why an action whose type is missing or has changed cannot be executed; an empty text for
    any other."""
    words = _describe(effects, action)
    return (words.user_message or "") if words is not None else ""


def _describe(effects: EffectTypes, action: Action) -> Words | None:
    if effects.find(action.effect) is None:
        return describe_missing_type(action)
    return describe_changed_type(action) if effects.has_changed(action) else None


def mark_missing_type(effects: EffectTypes, action: Action) -> Action:
    """Return the action for a page. If it is open and its type is missing, its view says that it can be
    neither approved nor edited."""
    if action.status not in OPEN or not (why := explain_missing_type(effects, action)):
        return action
    view = msgspec.structs.replace(action.view, unfit=Unfit(GATE, why), fields=(), fixed=FIXED)
    return msgspec.structs.replace(action, view=view)
