"""One line of the inbox. Pure."""

from __future__ import annotations

from typing import Any, Final

from assent.engine.views.inbox import Waiting
from assent.gate.records import Action, Severity
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    FAILED,
    RETRYABLE,
    UNKNOWN,
    State,
    state_of,
)
from assent.kernel.limits import DAY_MS
from assent.serving.web.review import words as review_words
from assent.serving.web.review.content import as_text
from assent.serving.web.review.times import when
from assent.serving.web.review.words import SEVERITIES, STATES, Badge

EXPIRES_SOON_MS: Final = 3 * DAY_MS
"""Actions that expire within this time show it."""

BATCH: Final = frozenset({Severity.LOW})
"""Severities for batch decisions: nothing leaves for another service or person."""


def may_be_batched(action: Action) -> bool:
    """Whether a batch may include it. An HTML part needs its own page, for its frame."""
    return action.preflight.severity in BATCH and not action.effect.html


BY_HAND: Final = Badge("Publish it by hand", "warn")
STOPPED: Final = {APPROVED: STATES[RETRYABLE], RETRYABLE: STATES[RETRYABLE], FAILED: STATES[FAILED]}
"""States in which no job sends an approved action."""


def _badge(action: Action, state: State) -> Badge | None:
    if state == APPROVED and action.effect.connector == "manual":
        return BY_HAND
    return STATES[UNKNOWN] if state == UNKNOWN else STOPPED.get(state)


def _explain_stop(action: Action, state: State) -> str:
    if state not in STOPPED:
        return ""
    if (said := as_text(action.metadata.get("lastAttempt"))) and state != APPROVED:
        return said
    if not action.preflight.connector_ready and action.preflight.connector_fix_hint:
        return action.preflight.connector_fix_hint
    return (
        "It has not been sent yet."
        if action.effect.connector != "manual"
        else "Say where it is once it is out."
    )


def inbox_line(waiting: Waiting, now_ms: int) -> dict[str, Any]:
    action = waiting.action
    severity, state = action.preflight.severity, state_of(action)
    ends = action.expires_ms if state == AWAITING else None
    here = f"/runs/{action.run_id}"
    place = f"#action-{action.action_id}"
    opened = f"{here}?action={action.action_id}&open="
    return {
        "action_id": action.action_id,
        "type": action.effect.type,
        "href": here + place,
        "edit_href": f"{here}/actions/{action.action_id}/edit",
        "approve_href": f"{opened}approve{place}",
        "reject_href": f"{opened}reject{place}",
        "channel": review_words.channel_name(action.effect.channel),
        "title": review_words.title(action.effect),
        "summary": review_words.summary(action.effect),
        "destination": review_words.destination(action.effect),
        "workspace": waiting.workspace_name,
        "state": _badge(action, state),
        "missing": review_words.missing(action.effect) if state == AWAITING else "",
        "stopped": _explain_stop(action, state),
        "severity": SEVERITIES[severity],
        "why": review_words.explain_severity(action),
        "needs": review_words.needs(waiting.policy, severity),
        "cost": review_words.cost(action.preflight.estimated_cost_credits),
        "agent": review_words.agent_name(waiting.prepared_by) if waiting.prepared_by else "",
        "run_id": action.run_id,
        "prepared": when(action.created_ms, now_ms),
        "expires": when(ends, now_ms) if ends is not None and ends - now_ms <= EXPIRES_SOON_MS else None,
        "done": when(action.executed_ms, now_ms),
        "batch": may_be_batched(action) and state == AWAITING,
    }
