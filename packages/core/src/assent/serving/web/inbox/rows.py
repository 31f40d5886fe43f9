"""The rows of the inbox and the pane beside them. Pure."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from assent.engine.actions.flood import HeldGroup
from assent.engine.views.inbox import Waiting
from assent.gate.effects import EffectTypes
from assent.gate.records import Action, is_with_agent, list_change_requests, read_proposal
from assent.gate.rules.drift import describe_changes, read_changes
from assent.gate.transitions import APPROVED, AWAITING, EXECUTED, FAILED, RETRYABLE, UNKNOWN, State, state_of
from assent.kernel.limits import DAY_MS, HOUR_MS, MINUTE_MS
from assent.present.refusals import explain_missing_type
from assent.serving.web.review import naming
from assent.serving.web.review.blocks import list_arguments
from assent.serving.web.review.content import as_text, build_content
from assent.serving.web.review.forms import may_be_batched
from assent.serving.web.review.history import capital
from assent.serving.web.shell.rendering import Badge
from assent.serving.web.shell.times import relative, when

EXPIRES_SOON_MS: Final = 3 * DAY_MS
"""Actions that expire within this time show it."""

STOPPED: Final = {APPROVED: RETRYABLE, RETRYABLE: RETRYABLE, FAILED: FAILED}
"""States in which no job sends an approved action, and the state that the row names."""


def _badge(action: Action, state: State) -> Badge | None:
    if state == APPROVED and action.view.executes == "person":
        return Badge("Publish it by hand", "warn")
    shown = UNKNOWN if state == UNKNOWN else STOPPED.get(state)
    return naming.name_state(action, shown) if shown is not None else None


def _explain_stop(action: Action, state: State) -> str:
    if state not in STOPPED:
        return ""
    if (said := as_text(action.metadata.get("lastAttempt"))) and state != APPROVED:
        return said
    if not action.preflight.connector_ready and action.preflight.connector_fix_hint:
        return action.preflight.connector_fix_hint
    if action.view.executes == "person":
        return "Say where it is once it is out."
    return ""


def _find_missing(effects: EffectTypes, action: Action) -> str:
    """Why it cannot be approved, or an empty text."""
    return explain_missing_type(effects, action) or naming.missing(action)


def held_line(group: HeldGroup, now_ms: int) -> dict[str, Any]:
    """The row of a flood of proposals."""
    agent = capital(naming.agent_name(group.proposed_by))
    many = "one more proposal" if group.held == 1 else f"{group.held} more proposals"
    span = "a minute" if group.minutes == 1 else f"{group.minutes} minutes"
    return {
        "title": f"{agent} made {many} within {span}",
        "href": f"/inbox/held/{group.workspace_id}/{quote(group.proposed_by, safe='')}",
        "count": group.held,
        "workspace": group.workspace_name,
        "prepared": when(group.last_ms, now_ms),
    }


def _shorten_age(ms: int) -> str:
    """`5 min`, `3 h`, `2 d`."""
    for unit_ms, name in ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min")):
        if ms >= unit_ms:
            return f"{ms // unit_ms} {name}"
    return "now"


def _tag(action: Action, state: State, ends_ms: int | None, now_ms: int) -> Badge | None:
    """The mark at the end of a row."""
    if state == UNKNOWN:
        return Badge("Done?" if naming.is_function(action) else "Sent?", "ask")
    if is_with_agent(action):
        return Badge("Changes asked for", "info")
    if ends_ms is not None and ends_ms - now_ms <= EXPIRES_SOON_MS:
        return Badge(f"{_shorten_age(ends_ms - now_ms)} left", "warn")
    return SHORT.get(state) or _badge(action, state)


SHORT: Final = {FAILED: Badge("Failed", "danger")}


def _say_note(line: Waiting, missing: str, now_ms: int) -> str:
    """What a row says after the place: the obstacle, else the approvals, else the warnings."""
    action, state = line.action, state_of(line.action)
    if stopped := _explain_stop(action, state):
        return stopped
    if state == UNKNOWN:
        return naming.explain_doubt(action).rstrip(".")
    if changes := read_changes(action):
        return f"Not sent, it needs a new approval. {capital(describe_changes(changes))}."
    if missing:
        return missing
    if state == EXECUTED and action.executed_ms is not None:
        return naming.name_outcome(action).lower()
    if state == APPROVED and action.schedule_ms is not None:
        return f"due {relative(action.schedule_ms - now_ms)}"
    if asked := list_change_requests(action) if is_with_agent(action) else []:
        return f"{asked[-1].get('by', 'someone')} asked: {naming.shorten_value(asked[-1].get('text', ''))}"
    if line.approvals:
        return f"{len(line.approvals)} of {line.policy.require(action).approvers} approved"
    warnings = len(action.preflight.warnings)
    if not warnings and naming.is_function(action):
        return ", ".join(f"{label}: {naming.shorten_value(value)}" for label, value in list_arguments(action))
    return f"{warnings} warning{'s' if warnings > 1 else ''}" if warnings else ""


def inbox_line(effects: EffectTypes, waiting: Waiting, now_ms: int) -> dict[str, Any]:
    """A row of two lines: the content, then where it goes and what stands in its way."""
    action = waiting.action
    view, has_arguments = action.view, naming.is_function(action)
    state = state_of(action)
    ends = action.expires_ms if state == AWAITING else None
    here = f"/runs/{action.run_id}"
    place = f"#action-{action.action_id}"
    opened = f"{here}?action={action.action_id}&open="
    gone = explain_missing_type(effects, action)
    missing = _find_missing(effects, action) if state == AWAITING else ""
    return {
        "action_id": action.action_id,
        "href": here + place,
        "pane": f"/inbox/pane/{action.action_id}",
        "edit_href": f"{here}/actions/{action.action_id}/edit" if view.fields and not gone else "",
        "approve_href": f"{opened}approve" if state == AWAITING and not missing else "",
        "reject_href": f"{opened}reject{place}" if state == AWAITING else "",
        "title": view.heading if has_arguments else action.effect.title or view.summary or view.heading,
        "icon": "workflows"
        if action.is_step
        else naming.choose_icon(effects.connector(action.effect.connector)),
        "place": naming.say_place(action),
        "note": _say_note(waiting, missing, now_ms),
        "risk": action.preflight.severity.value,
        "tag": _tag(action, state, ends, now_ms),
        "age": _shorten_age(now_ms - (action.executed_ms or action.created_ms)),
        "at": when(action.executed_ms or action.created_ms, now_ms),
        "agent": naming.agent_name(read_proposal(waiting.action).label or waiting.prepared_by),
        "workspace": waiting.workspace_name,
        "batch": may_be_batched(action) and state == AWAITING,
    }


def pane_values(effects: EffectTypes, waiting: Waiting, now_ms: int) -> dict[str, Any]:
    """One item beside the list: its title, facts, warnings and content."""
    action = waiting.action
    needed = waiting.policy.require(action)
    return {
        **inbox_line(effects, waiting, now_ms),
        "what": naming.say_effect(action),
        "goal": waiting.goal,
        "badge": naming.status_badge(action, now_ms, len(waiting.approvals), needed.approvers),
        "why": naming.explain_severity(action),
        "connector": action.view.via,
        "ready": action.preflight.connector_ready,
        "needs": naming.needs(needed),
        "approvers": tuple(each.name for each in waiting.approvals),
        "needed": needed.approvers,
        "warnings": action.preflight.warnings,
        "prepared": when(action.created_ms, now_ms),
        "content": build_content(action, now_ms),
        "waits": state_of(action) == AWAITING,
        "url": naming.web_address(action.external_url),
    }
