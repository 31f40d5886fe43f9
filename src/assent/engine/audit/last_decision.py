"""The newest decision about an action in the journal."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.audit import views as audit_views
from assent.engine.audit.views import AuditCursor
from assent.gate.records import Action
from assent.kernel.structs import WireRecord
from assent.ports import Transaction

DECISIONS: Final[dict[str, str]] = {
    "action_approve": "approved",
    "approval_recorded": "approved by one of several",
    "approval_taken_back": "withdrawn",
    "action_reject": "rejected",
    "action_edit": "edited",
    "action_withdraw": "withdrawn",
    "changes_asked": "changes asked",
    "action_hand_over": "recorded as published",
}
"""Events that are decisions, and their names."""

LOOKED_AT: Final = 60
"""Bound on the decisions of a run that are read."""


class LastDecision(WireRecord, kw_only=True):
    what: str
    by: str
    at_ms: int
    assurance: str
    via: str
    comment: str


def last_decision(action: Action) -> Transaction[LastDecision | None]:
    """None if the newest decisions of the run have none about the action."""
    page = yield from audit_views.stream_events(
        action.workspace_id, action.run_id, kinds=tuple(DECISIONS), before=AuditCursor(), most=LOOKED_AT
    )
    for event in page.events:
        facts: dict[str, Any] = msgspec.json.decode(event.body)
        if facts.get("actionId") == action.action_id:
            return LastDecision(
                what=DECISIONS[event.kind],
                by=str(facts.get("by", "")),
                at_ms=event.at_ms,
                assurance=str(facts.get("assurance", "")),
                via=str(facts.get("via", "")),
                comment=str(facts.get("reason") or facts.get("text") or ""),
            )
    return None
