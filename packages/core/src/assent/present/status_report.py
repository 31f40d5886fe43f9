"""The state of actions and runs for a status report. Pure.

Every action is in exactly one section. A run's status is computed from its actions when it is read
(E3) and never stored, so it cannot contradict them.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from assent.gate.next_try import read_next_try
from assent.gate.records import (
    OUTCOME_TOLD,
    PARTLY,
    SUPERSEDED,
    WORKFLOW,
    Action,
    ExecutionState,
    Status,
    is_test,
    when_undone,
    why_stopped,
)
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    EXECUTING,
    FAILED,
    REJECTED,
    RETRYABLE,
    UNKNOWN,
    State,
    state_of,
)
from assent.kernel.ids import is_uuid
from assent.kernel.limits import MINUTE_MS
from assent.kernel.texts import truncate
from assent.kernel.times import readable_time
from assent.present.next_steps import ALREADY_OUT, Circumstances, after_connecting, ask, describe_wish
from assent.present.workflow_step import REPLACED, describe_step

EXPIRED: Final = "expired"
MAX_DESCRIPTION: Final = 120

_TELLING: Final = ("goal", "headline", "title", "subject", "body", "query")
"""Inputs that describe a run, the best first."""
_NAMING: Final = ("productUrl", "workflowId", "channel", "provider", "kind")
"""Inputs that only say what a run is about."""


class Section(enum.StrEnum):
    """The sections of a status report, in display order."""

    WENT_OUT = "wentOut"
    UNDONE = "undone"
    UNKNOWN = "unknown"
    APPROVED_NOT_SENT = "approvedNotSent"
    BY_HAND = "byHand"
    WAITING = "waiting"
    FAILED = "failed"
    REJECTED = "rejected"
    EXPIRED = "expired"


SECTION_TITLES: Final[dict[Section, str]] = {
    Section.UNKNOWN: "Unknown whether it went out",
    Section.WAITING: "Waiting for approval",
    Section.APPROVED_NOT_SENT: "Approved, not sent",
    Section.BY_HAND: "Approved, to be published by hand",
    Section.FAILED: "Failed",
    Section.WENT_OUT: "Went out",
    Section.UNDONE: "Undone",
    Section.REJECTED: "Rejected",
    Section.EXPIRED: "Expired",
}


def find_section(action: Action, now_ms: int) -> Section:
    return divide(
        action.status,
        action.execution_state,
        is_expired=action.is_expired(now_ms),
        by_hand=action.view.executes == "person",
        is_gone=action.view.removes or when_undone(action) is not None,
    )


def divide(
    status: Status, execution_state: ExecutionState, *, is_expired: bool, by_hand: bool, is_gone: bool
) -> Section:
    """Return the section of an action. `is_gone`: it took another one back, or was taken back."""
    if execution_state is ExecutionState.OUTCOME_UNKNOWN:
        return Section.UNKNOWN
    if is_expired:
        return Section.EXPIRED
    if status is Status.APPROVED:
        return Section.BY_HAND if by_hand else Section.APPROVED_NOT_SENT
    return Section.UNDONE if status is Status.EXECUTED and is_gone else _BY_STATUS[status]


def describe_removal(action: Action, now_ms: int) -> str:
    """Describe when an action in the section `UNDONE` was taken back, or took another one back."""
    out_ms, gone_ms = action.executed_ms or now_ms, when_undone(action)
    if gone_ms is None:
        return f"It took another action back {readable_time(out_ms, now_ms)}."
    return f"It went out {readable_time(out_ms, now_ms)} and was undone {readable_time(gone_ms, now_ms)}."


def list_undone(removed: Sequence[Action]) -> tuple[Action, ...]:
    """Return what was taken back, given the section `UNDONE`: an action stands for its reverse, too."""
    gone = {str(action.action_id) for action in removed if not action.view.removes}
    return tuple(
        action
        for action in removed
        if not action.view.removes or action.effect.details.get("actionId") not in gone
    )


_BY_STATUS: Final[dict[Status, Section]] = {
    Status.AWAITING_APPROVAL: Section.WAITING,
    Status.EDITED: Section.WAITING,
    Status.EXECUTED: Section.WENT_OUT,
    Status.FAILED: Section.FAILED,
    Status.REJECTED: Section.REJECTED,
}


_STATUS_LINE: Final = re.compile(r"\bHTTP \d{3}(?:: )?")


def plain_detail(detail: str) -> str:
    """Return a connector's detail for people, without protocol status codes."""
    return _STATUS_LINE.sub("", detail).strip().rstrip(".")


_OF_AN_AGENT: Final = {
    APPROVED: "The agent that asked may run it now, once.",
    EXECUTING: "The agent that asked runs it now.",
    UNKNOWN: "It is not known whether it ran: the agent did not report what became of it.",
    RETRYABLE: "The agent that asked may run it now, once.",
}
"""Sentences for an action that its agent runs."""


def explain(action: Action, around: Circumstances, now_ms: int) -> str:
    """Explain the state of an action in a sentence for the person; empty if it needs none."""
    blocker, section = around.obstacle, find_section(action, now_ms)
    if action.effect.connector == WORKFLOW and section is not Section.REJECTED:
        gone = REPLACED if SUPERSEDED in action.metadata else "It was not approved in time."
        return gone if section is Section.EXPIRED else describe_step(action) or ""
    if section in (Section.WAITING, Section.APPROVED_NOT_SENT, Section.WENT_OUT) and is_test(action):
        return describe_test(action)
    if (
        action.view.executes == "agent"
        and section is not Section.EXPIRED
        and state_of(action) in _OF_AN_AGENT
    ):
        waits = state_of(action) in (APPROVED, RETRYABLE)
        return blocker if blocker is not None and waits else _OF_AN_AGENT[state_of(action)]
    detail = plain_detail(str(action.metadata.get("lastAttempt", "")))
    if section is Section.APPROVED_NOT_SENT:
        if action.execution_state is ExecutionState.EXECUTING:
            return "It is being sent now."
        if blocker is not None:
            return f"{blocker} {after_connecting(action, around)}".rstrip()
        if action.schedule_ms is not None and action.schedule_ms > now_ms:
            return "The server sends it at that time."
        if not detail:
            return f"{_say_of_rest(action)} {ask(action, around) or ''}".strip()
        return f"The last attempt failed: {detail}. {describe_next_try(action, now_ms)}".rstrip()
    if section is Section.WAITING:
        why = why_stopped(action)
        stopped = f"Stopped: “{why}”." if why else "It was stopped." if why is not None else ""
        parts = (
            stopped,
            describe_wish(action),
            _say_of_rest(action),
            f"It could not go out yet: {around.blocker}" if around.blocker and not around.frozen else "",
        )
        return " ".join(filter(None, parts))
    said = {
        Section.UNKNOWN: f"It is not known whether it went out: {_explain_unknown(action)}.",
        Section.FAILED: f"{detail}." if detail else "The provider refused it.",
        Section.REJECTED: f"“{action.rejection}”" if action.rejection else "",
        Section.BY_HAND: "You publish it yourself and then tell me.",
        Section.UNDONE: describe_removal(action, now_ms),
        Section.EXPIRED: "It was approved but not sent in time, so it will not be sent."
        if action.status is Status.APPROVED
        else "It was not approved and sent in time.",
        Section.WENT_OUT: "It was done by hand, as recorded here; the server did not see it."
        if action.is_by_hand
        else str(action.metadata.get(PARTLY) or _describe_witness(action)),
    }
    return said.get(section, "")


_PARTS: Final = {
    "body": "text",
    "cc": "copies",
    "html": "HTML part",
    "media": "picture",
    "preheader": "preview text",
    "reply_to": "reply address",
    "schedule": "time",
    "visible": "list of recipients",
}
"""The parts of an effect in the words for people, where these differ."""


def describe_edit(by: str, changed: Sequence[str]) -> str:
    """Say who changed what: `Ada changed the text and the time`."""
    parts = [f"the {_PARTS.get(each, each.replace('_', ' '))}" for each in changed] or ["it"]
    return f"{by} changed {' and '.join(filter(None, (', '.join(parts[:-1]), parts[-1])))}"


def _say_of_rest(action: Action) -> str:
    """Say of the rest of an effect what went out and why this did not, as its reviewer is warned; else nothing."""
    return next((each for each in action.preflight.warnings if each.startswith(ALREADY_OUT)), "")


def describe_test(action: Action) -> str:
    """Say of a test that nothing is sent for real; empty of anything else. A step of a workflow sends nothing."""
    if action.effect.connector == WORKFLOW or not is_test(action):
        return ""
    if action.status is Status.EXECUTED:
        return "It was a test: nothing was sent for real."
    return "It is a test, because a test key (clp_dev_…) prepared or approved it: it is never sent for real."


def describe_next_try(action: Action, now_ms: int) -> str:
    """Say whether the server tries again to send an action, and when; empty if nothing failed or the try is due."""
    planned = read_next_try(action)
    if planned is None or state_of(action) not in (APPROVED, RETRYABLE):
        return ""
    if planned.at_ms is None:
        tried = "once" if planned.tries == 1 else f"{planned.tries} times"
        return f"The server has tried {tried} and will not try again unless you ask."
    if planned.at_ms <= now_ms:
        return ""
    soon = planned.at_ms < now_ms + MINUTE_MS
    return f"The server tries again {'within a minute' if soon else readable_time(planned.at_ms, now_ms)}."


def _explain_unknown(action: Action) -> str:
    if action.attempt is not None and action.attempt.lost_by_restore:
        return "the server was restored from a backup, and it may have been sent after the backup was taken"
    return "the provider did not confirm it"


_WITNESSES: Final = {
    "agent": "your agent reported that you saw it there",
    "link": "someone with the review link reported that it is there",
    "client": "someone reported in your chat program that it is there",
    "person": "a signed-in person reported that it is there",
    "passkey": "a signed-in person reported that it is there",
}


def _describe_witness(action: Action) -> str:
    """Describe who alone confirmed a delivery, by their assurance; empty if the provider did."""
    witness = _WITNESSES.get(str(action.metadata.get(OUTCOME_TOLD)))
    return f"The provider did not confirm it; {witness}." if witness else ""


def run_status(stored: str, states: Iterable[tuple[str, str]], *, measured: bool) -> str:
    """Compute the status of a run from the status and execution state of each action.

    `stored` is the run's own result (`prepared`, `running`, `failed`, `complete`), used if it
    staged no action. Rejected and expired actions count as closed: a run whose other actions were
    delivered is executed.
    """
    found = set(states)
    if not found or stored != "prepared":
        return stored
    statuses = {status for status, _ in found}
    executions = {execution for _, execution in found}
    if ExecutionState.OUTCOME_UNKNOWN in executions:
        return "outcome_unknown"
    if ExecutionState.EXECUTING in executions:
        return "executing"
    if Status.EXECUTED in statuses:
        if statuses - {Status.EXECUTED, Status.REJECTED, EXPIRED}:
            return "partly_sent"
        return "measured" if measured else "executed"
    for status in (Status.AWAITING_APPROVAL, Status.APPROVED, Status.FAILED):
        if status in statuses:
            return status
    return EXPIRED if EXPIRED in statuses else Status.REJECTED


def state_in_run(action: Action, now_ms: int) -> tuple[str, str]:
    """Return status and execution state of an action for `run_status`."""
    return EXPIRED if action.is_expired(now_ms) else action.status, action.execution_state


def may_expire(status: str, execution_state: str) -> bool:
    """Whether an action in this state can expire."""
    waits = execution_state in (ExecutionState.NONE, ExecutionState.RETRYABLE)
    return waits and status in (Status.AWAITING_APPROVAL, Status.APPROVED)


def describe_run(inputs: dict[str, Any], first: str = "") -> str:
    """Describe a run in its caller's words, else by its first action."""
    brand = inputs.get("brand")
    named = brand.get("name") if isinstance(brand, dict) else None
    found = _first_text(inputs, _TELLING) or first or _name_session(inputs) or _first_text(inputs, _NAMING)
    known = [each for each in (named, found) if isinstance(each, str) and each.strip()]
    return truncate(" ".join(": ".join(known).split()), MAX_DESCRIPTION)


def _name_session(inputs: dict[str, Any]) -> str:
    """Name a workflow's run by its definition and session: “Bug fix: SHOP-88”."""
    workflow, session = inputs.get("workflowId"), inputs.get("sessionId")
    if not isinstance(workflow, str) or not isinstance(session, str) or not session or is_uuid(session):
        return ""
    return f"{workflow.rpartition('.')[2].replace('-', ' ').capitalize()}: {session}"


def _first_text(inputs: dict[str, Any], names: tuple[str, ...]) -> str:
    """Return the first line of the first input that has a text."""
    texts = (inputs.get(name) for name in names)
    lines = (each.strip().splitlines()[0] for each in texts if isinstance(each, str) and each.strip())
    return next(lines, "")


NOTHING_AGAIN: Final = "Nothing was done again."

_NOW: Final[dict[State, str]] = {
    AWAITING: "waits for approval",
    APPROVED: "is approved and not sent",
    EXECUTING: "is being sent",
    UNKNOWN: "may or may not have been sent",
    RETRYABLE: "is approved and not sent",
    REJECTED: "was rejected",
    EXECUTED: "went out",
    FAILED: "was refused by the provider",
}
_NOW_OF_A_STEP: Final[dict[State, str]] = {**_NOW, APPROVED: "is approved", EXECUTED: "was passed"}


def say_now(action: Action) -> str:
    """Say where an action stands, after “it” or “this”."""
    return (_NOW_OF_A_STEP if action.effect.connector == WORKFLOW else _NOW)[state_of(action)]


def describe_present(shown: Iterable[Action], now_ms: int) -> str:
    """Describe the present state of these actions in one sentence."""
    said = [_describe(action, now_ms) for action in shown]
    return f"{NOTHING_AGAIN} Now: {', '.join(said)}." if said else NOTHING_AGAIN


def _describe(action: Action, now_ms: int) -> str:
    state = state_of(action)
    if action.is_expired(now_ms) and state in (AWAITING, APPROVED, RETRYABLE):
        return f"{action.effect.channel} has expired"
    subject = "the step" if action.effect.connector == WORKFLOW else action.effect.channel
    return f"{subject} {say_now(action)}"
