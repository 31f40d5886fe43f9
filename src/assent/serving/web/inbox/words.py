"""One line of the inbox. Pure."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from assent.engine.actions.missing_types import explain_missing_type
from assent.engine.people.flood import HeldGroup
from assent.engine.views.inbox import Waiting
from assent.extensions.texts import render_value
from assent.gate.effects import EffectTypes
from assent.gate.records import Action
from assent.gate.rules.drift import describe_changes, read_changes
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    FAILED,
    RETRYABLE,
    UNKNOWN,
    State,
    state_of,
)
from assent.gate.views import Severity
from assent.kernel.limits import DAY_MS
from assent.kernel.texts import truncate
from assent.serving.web.review import words as review_words
from assent.serving.web.review.blocks import list_arguments
from assent.serving.web.review.content import as_text
from assent.serving.web.review.history import capital
from assent.serving.web.review.words import SEVERITIES, Badge
from assent.serving.web.shell.times import when

EXPIRES_SOON_MS: Final = 3 * DAY_MS
"""Actions that expire within this time show it."""

ARGUMENT_CHARS: Final = 120
"""How much of each argument a row shows; the review page shows it whole."""

BATCH: Final = frozenset({Severity.LOW})
"""Severities for batch decisions: nothing leaves for another service or person."""


def may_be_batched(action: Action) -> bool:
    """Whether a batch may include it. An HTML part needs its own page, for its frame."""
    return action.preflight.severity in BATCH and not action.effect.html


BY_HAND: Final = Badge("Publish it by hand", "warn")
STOPPED: Final = {APPROVED: RETRYABLE, RETRYABLE: RETRYABLE, FAILED: FAILED}
"""States in which no job sends an approved action, and the state that the row names."""


def _badge(action: Action, state: State) -> Badge | None:
    if state == APPROVED and action.view.executes == "person":
        return BY_HAND
    shown = UNKNOWN if state == UNKNOWN else STOPPED.get(state)
    return review_words.name_state(action, shown) if shown is not None else None


def _explain_stop(action: Action, state: State) -> str:
    if state not in STOPPED:
        return ""
    if (said := as_text(action.metadata.get("lastAttempt"))) and state != APPROVED:
        return said
    if not action.preflight.connector_ready and action.preflight.connector_fix_hint:
        return action.preflight.connector_fix_hint
    if action.view.executes == "person":
        return "Say where it is once it is out."
    return "It has not been run yet." if review_words.is_function(action) else "It has not been sent yet."


def _shorten(value: Any) -> str:
    text = value if isinstance(value, str) and value.strip() else render_value(value)
    return truncate(" ".join(text.split()), ARGUMENT_CHARS)


def _find_missing(effects: EffectTypes, action: Action) -> str:
    """Why it cannot be approved, or an empty text."""
    return explain_missing_type(effects, action) or review_words.missing(action)


def held_line(group: HeldGroup, now_ms: int) -> dict[str, Any]:
    """The row of a flood of proposals."""
    agent = capital(review_words.agent_name(group.proposed_by))
    many = "one more proposal" if group.held == 1 else f"{group.held} more proposals"
    span = "a minute" if group.minutes == 1 else f"{group.minutes} minutes"
    return {
        "title": f"{agent} made {many} within {span}",
        "href": f"/inbox/held/{group.workspace_id}/{quote(group.proposed_by, safe='')}",
        "count": group.held,
        "workspace": group.workspace_name,
        "prepared": when(group.last_ms, now_ms),
    }


def inbox_line(effects: EffectTypes, waiting: Waiting, now_ms: int) -> dict[str, Any]:
    action = waiting.action
    view, has_arguments = action.view, review_words.is_function(action)
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
        "title": view.noun if has_arguments else view.heading,
        "summary": view.heading if has_arguments else view.summary,
        "arguments": [(label, _shorten(value)) for label, value in list_arguments(action)]
        if has_arguments
        else [],
        "editable": bool(view.fields) and not explain_missing_type(effects, action),
        "destination": view.destination,
        "workspace": waiting.workspace_name,
        "state": _badge(action, state),
        "approvals": review_words.count_approvals(waiting.policy.require(action), waiting.approvals, now_ms)
        if waiting.approvals
        else "",
        "drift": f"{capital(describe_changes(changes))}." if (changes := read_changes(action)) else "",
        "missing": _find_missing(effects, action) if state == AWAITING else "",
        "stopped": _explain_stop(action, state),
        "severity": SEVERITIES[severity],
        "why": review_words.explain_severity(action),
        "needs": review_words.needs(waiting.policy.require(action)),
        "cost": review_words.cost(action.preflight.estimated_cost_credits),
        "agent": review_words.agent_name(waiting.prepared_by) if waiting.prepared_by else "",
        "run_id": action.run_id,
        "prepared": when(action.created_ms, now_ms),
        "expires": when(ends, now_ms) if ends is not None and ends - now_ms <= EXPIRES_SOON_MS else None,
        "done": when(action.executed_ms, now_ms),
        "batch": may_be_batched(action) and state == AWAITING,
    }
