"""The words of the inbox, of deciding together and of a flood, and the lines of the inbox. Pure."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from assent.engine.actions.missing_types import explain_missing_type
from assent.engine.people.flood import HeldGroup
from assent.engine.views.inbox import Waiting
from assent.gate.effects import EffectTypes
from assent.gate.records import Action
from assent.gate.rules.drift import describe_changes, read_changes
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    FAILED,
    RETRYABLE,
    UNKNOWN,
    State,
    state_of,
)
from assent.kernel.limits import DAY_MS, HOUR_MS, MINUTE_MS
from assent.serving.web.review import naming
from assent.serving.web.review.blocks import list_arguments
from assent.serving.web.review.content import as_text, build_content
from assent.serving.web.review.forms import may_be_batched
from assent.serving.web.review.history import capital
from assent.serving.web.review.words import Badge
from assent.serving.web.shell.times import relative, when

EXPIRES_SOON_MS: Final = 3 * DAY_MS
"""Actions that expire within this time show it."""

SEARCH: Final = "Search drafts, people, runs"
SEARCHED: Final = "Searched {:,} of {:,}, the most severe first."
SEARCH_ON: Final = "Search the next ones"
UNKNOWN_TITLE: Final = "Did this go out?"
UNKNOWN_HINT: Final = (
    "We lost the connection while sending. Nothing is sent again before you say whether it arrived."
)
STUCK: Final = "Did not go out"
STUCK_HINT: Final = (
    "Approved, and not sent. Open one to try again, to change it, or to take the approval back."
)
HELD: Final = "Too much at once"
HELD_HINT: Final = (
    "An agent proposed many actions in a short time. Decide about all of them at once; nothing is sent "
    "until then."
)
HELD_NOTE: Final = "Open the list, then reject or release all of them"
SCHEDULED: Final = "Scheduled"
SENT_TODAY: Final = "Sent today"
LOW_RISK: Final = "{} low-risk drafts"
APPROVE_ALL: Final = "Approve all {}…"
SELECT: Final = "Select {}"
SELECT_HINT: Final = "Select low-risk rows to decide about them together."
REVIEW_ALL: Final = "Review all {}"
APPROVE_TOGETHER: Final = "Approve together"
REJECT_TOGETHER: Final = "Reject together"
NOTHING_LIKE_IT: Final = "Nothing found"
NOTHING_LIKE_IT_HINT: Final = "Try other words, or clear the filter to see everything that needs you."
NOTHING_WAITS: Final = "Nothing waits for you"
NOTHING_WAITS_HINT: Final = (
    "When an agent prepares something that needs a decision, it appears here. Say to your agent: “Draft a post about "
    "what we built today, and let me approve it.” You can decide here or in the chat."
)
CHIPS: Final = {
    "": "Needs you",
    "stuck": "Stuck",
    "high": "High risk",
    "soon": "Expiring",
    "scheduled": "Scheduled",
    "sent": "Sent today",
}
"""The names of the filters."""

BATCH_HINT: Final = "All of low risk. Nothing is decided yet: read each one, then press the button below."
BATCH_UNREADY: Final = "You can approve now; it is sent once this is fixed."
UNDO_HINT: Final = "They go out after {} seconds. Until then you can take each approval back."

RELEASE_HINT: Final = (
    "Nothing is sent and nothing is lost. Reject them all, or release them and decide about each one in "
    "your inbox."
)


def count_waiting(found: int, filtered: bool) -> str:
    """The heading of what waits."""
    if filtered:
        return f"{found} found"
    return "One thing waits for you" if found == 1 else f"{found} things wait for you"


def name_group(group: dict[str, Any]) -> str:
    """The name of a run's rows: its goal, else who prepared it."""
    goal = str(group["goal"])
    return goal if goal and goal != group["lines"][0]["title"] else f"From {group['agent'] or 'your agent'}"


BY_HAND: Final = Badge("Publish it by hand", "warn")
DID: Final = {
    "approve": "approved",
    "send": "approved and on their way out",
    "reject": "rejected",
    "release": "released; each waits below",
}
"""What became of the drafts that were decided together."""
STOPPED: Final = {APPROVED: RETRYABLE, RETRYABLE: RETRYABLE, FAILED: FAILED}
"""States in which no job sends an approved action, and the state that the row names."""


def _badge(action: Action, state: State) -> Badge | None:
    if state == APPROVED and action.view.executes == "person":
        return BY_HAND
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
    return "It has not been run yet." if naming.is_function(action) else "It has not been sent yet."


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
        return "the connection broke while it was sent"
    if changes := read_changes(action):
        return f"Not sent, it needs a new approval. {capital(describe_changes(changes))}."
    if missing:
        return missing
    if state == EXECUTED and action.executed_ms is not None:
        return action.view.done.lower()
    if state == APPROVED and action.schedule_ms is not None:
        return f"goes out {relative(action.schedule_ms - now_ms)}"
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
        "approve_href": f"{opened}approve{place}" if state == AWAITING and not missing else "",
        "reject_href": f"{opened}reject{place}" if state == AWAITING else "",
        "title": view.heading if has_arguments else action.effect.title or view.summary or view.heading,
        "place": naming.say_place(action),
        "note": _say_note(waiting, missing, now_ms),
        "risk": action.preflight.severity.value,
        "tag": _tag(action, state, ends, now_ms),
        "age": _shorten_age(now_ms - (action.executed_ms or action.created_ms)),
        "at": when(action.executed_ms or action.created_ms, now_ms),
        "agent": naming.agent_name(waiting.prepared_by) if waiting.prepared_by else "",
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
        "badge": naming.status_badge(action, now_ms),
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
        "details": f"/actions/{action.action_id}",
    }


# batch.html
TOGETHER: Final = "{verb} {items} together"
VERB_ITEMS_TOGETHER: Final = "{verb} {items} together?"
VERB_ONE: Final = "{verb} this one?"
KINDS: Final = "Kinds"
OF: Final = "{index} of {items}"
THE_APPROVAL_ALSO: Final = "The approval also {sends} it, at once."
ITS_TIME_WAS_APPROVED_NOW: Final = "Its time was {schedule}; approved now, it goes out at once."
IT_GOES_OUT_ON: Final = "It goes out on {schedule}."
YOU_DECIDE_AS: Final = "You decide as {name}."
APPROVE_AND_NOW: Final = "Approve and {send} it now"
REJECT_ALL_FOR_GOOD: Final = "Reject all {items} for good"
APPROVE_ALL_ITEMS: Final = "Approve all {items}"
APPROVE_AND_ALL_NOW: Final = "Approve and {send} all {items} now"
APPROVE_ALL_SEND_NOW: Final = "Approve all {items}, send {sends} now"

# held.html
HELD_PROPOSALS: Final = "Held proposals"
BACK_TO_THE_INBOX: Final = "Back to the inbox"
AND_MORE: Final = "And {more} more."
DECIDE_ONE_BY_ONE: Final = "Decide one by one"
EACH_APPEARS_IN_YOUR_INBOX: Final = "Each appears in your inbox with its own decision."
RELEASE_ALL: Final = "Release all {count}"
REJECT_THEM: Final = "Reject them"
YOU_DECIDE_AS_NONE: Final = "You decide as {name}. None of them can be sent afterwards."

# inbox.html
SELECT_TITLE: Final = "Select: {title}"
ALL_WORKSPACES: Final = "All workspaces"
FILTER: Final = "Filter"
CLEAR: Final = "Clear"
DRAFTS: Final = "{lines} drafts"
CLEAR_THE_FILTER: Final = "Clear the filter"
CONNECT_AN_AGENT: Final = "Connect an agent"
THE_SELECTED_ITEM: Final = "The selected item"

# inbox_pane.html
STATE: Final = "State"
REVIEW_AND_APPROVE: Final = "Review and approve"
SAY_WHETHER_IT_ARRIVED: Final = "Say whether it arrived"
TRY_AGAIN: Final = "Try again…"
OPEN: Final = "Open"
APPROVALS_OF: Final = "{given} of {needed}"

# batch.py
THESE_CANNOT_BE_DECIDED_TOGETHER: Final = "These cannot be decided together"
ONLY_LOW_RISK_DRAFTS: Final = (
    "Only low-risk drafts that still wait and have no HTML part can be decided in one go."
)
GO_BACK_AND_SELECT_LOW: Final = "Go back and select low-risk rows, or open each one and decide there."
SOMETHING_CHANGED_WHILE_YOU_WERE: Final = "Something changed while you were looking"
ONE_OF_THESE_WAS_EDITED: Final = "One of these was edited or decided by someone else. Nothing was decided."
GO_BACK_TO_THE_INBOX: Final = "Go back to the inbox, look at what waits now, and select again."
SAY_WHY: Final = "Say why in a few words, so that the next draft is better."
IS_NOT_READY: Final = "{via} is not ready."

# held.py
NOTHING_IS_HELD_HERE: Final = "Nothing is held here"
THESE_PROPOSALS_WERE_DECIDED: Final = (
    "These proposals were decided or released already, or they have expired."
)
LOOK_AT_WHAT_WAITS: Final = "Look at what waits for you instead."
OPEN_THE_INBOX: Final = "Open the inbox"
SAY_WHY_TO_THE_AGENT: Final = "Say why in a few words: the agent reads it."

# screen.py
APPROVED_ON_THEIR_WAY_OUT: Final = "{count} approved, {sent} on their way out."
