"""A tool that returns one action, or waits until a person decides about it."""

from __future__ import annotations

from collections.abc import Collection
from itertools import takewhile
from typing import Annotated, Any, Final, Literal

import msgspec

from assent.engine.actions import actions, approvals, circumstances, hooks, send_jobs
from assent.engine.actions.approvals import GivenApproval
from assent.engine.audit.views import GivenDecision, list_decisions
from assent.gate.audit import ActionRecord, build_record
from assent.gate.preflight import is_overdue
from assent.gate.records import OUTPUT, WORKFLOW, Action, Assurance, ExecutionState, Status, is_test, name_of
from assent.gate.review_link import EXECUTE_RIGHT
from assent.gate.transitions import APPROVED, RETRYABLE, state_of
from assent.kernel.canonical import DIGEST_PREFIX
from assent.kernel.guide import Guide, SuggestedCall, make_guide
from assent.kernel.ids import ActionId, require_action_id
from assent.kernel.limits import MAX_WAIT_SECONDS, SECOND_MS
from assent.kernel.structs import Arguments, Record, WireRecord, from_record
from assent.kernel.times import iso_time, readable_time
from assent.ports import Transaction
from assent.present.calls import wait_call
from assent.present.cards import render_card
from assent.present.next_steps import EDIT, Circumstances, next_calls, say_due
from assent.present.outlook import describe_binding
from assent.present.status_report import SECTION_TITLES, Section, describe_edit, explain, find_section
from assent.tools.arguments import ActionIdArgument, DigestArgument
from assent.tools.definition import READS, Call, Tool

NAME: Final = "chieflab_get_action"
STEP_TITLES: Final = {Section.APPROVED_NOT_SENT: "Approved", Section.WENT_OUT: "Passed"}

Ended = Literal[
    "changed", "time_up", "nothing_to_wait_for", "client_gone", "server_full", "server_stops", "not_asked"
]


class GetAction(Arguments, kw_only=True):
    action_id: ActionIdArgument
    wait_seconds: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=MAX_WAIT_SECONDS,
            description="Answer when the user decides on the page or this time is up, whichever is first.",
        ),
    ] = 0
    digest: DigestArgument | None = None


class Waited(WireRecord, kw_only=True):
    """Why the call was answered now, and which parts of the content changed meanwhile."""

    ended: Ended
    changed: tuple[str, ...] = ()


class DecisionView(WireRecord, kw_only=True):
    """The newest decision about the action."""

    what: str
    by: str
    at: str
    assurance: str
    via: str
    comment: str


class ResultView(WireRecord, kw_only=True):
    """The result of the attempt to send it."""

    status: str
    at: str | None
    external_id: str | None
    external_url: str | None
    detail: str
    measured_at: str | None
    output: Any = None
    """The JSON that the effect returned for the agent."""


class GivenApprovalView(WireRecord, kw_only=True):
    """One of several approvals of the present content. `counts` is false if that person may no longer
    decide, or did not decide with enough assurance."""

    by: str
    at: str
    assurance: str
    counts: bool


class ShownAction(ActionRecord, frozen=True, kw_only=True, rename="camel"):
    """The audit record of an action with its newest decision, result, and next calls."""

    ok: bool
    decision: DecisionView | None
    result: ResultView | None
    waiting: Waited
    user_message: str
    agent_guide: Guide | msgspec.UnsetType
    review_url: str | msgspec.UnsetType = msgspec.UNSET
    """The page on which a person goes on, if this caller cannot."""
    approvals: tuple[GivenApprovalView, ...] | msgspec.UnsetType = msgspec.UNSET
    """The approvals so far, if several people must approve it."""
    approvals_missing: int | msgspec.UnsetType = msgspec.UNSET


class FoundAction(Record):
    """The result of one read."""

    action: Action
    decisions: tuple[GivenDecision, ...]
    """Those about it, the newest first."""
    measured_ms: int | None
    given: tuple[GivenApprovalView, ...]
    missing: int | None
    """How many approvals are missing; None if one suffices."""
    sending: bool
    """Whether a job sends it before the call stops waiting."""

    @property
    def decision(self) -> GivenDecision | None:
        return self.decisions[0] if self.decisions else None


async def get_action(call: Call, request: GetAction) -> ShownAction:
    action_id = require_action_id(request.action_id)
    until_ms = call.now_ms + request.wait_seconds * SECOND_MS
    stored = await _look(call, action_id, until_ms)
    first, ended = stored.action, _reason_not_to_wait(stored, request, call.caller.scopes, call.now_ms)
    if ended is None and call.peer is not None:
        call.peer.step_aside()
    while ended is None:
        gone = call.peer.gone if call.peer else None
        ended = await call.services.background.waits.wait(stored.action, until_ms, gone)
        stored = await _look(call, action_id, until_ms)
        if ended == "changed" and stored.sending:
            ended = None  # approved and being sent: the answer is its result
    now_ms = call.services.clock.now_ms()
    waited = Waited(ended=ended, changed=_changes(first, stored.action))
    outlook = await circumstances.read_outlook(call.services, call.caller, (stored.action,))
    stored = msgspec.structs.replace(stored, action=outlook.refresh(stored.action))
    return answer_shown(stored, waited, outlook.describe(stored.action), now_ms)


def _reason_not_to_wait(
    stored: FoundAction, request: GetAction, rights: Collection[str], now_ms: int
) -> Ended | None:
    """Return why a call is answered without waiting; None if it waits."""
    action = stored.action
    if request.wait_seconds == 0:
        return "not_asked"
    if request.digest is not None and not _matches_digest(action, request.digest):
        return "changed"
    awaited = action.status is Status.AWAITING_APPROVAL and not action.is_expired(now_ms)
    elsewhere = (
        action.status is Status.APPROVED
        and action.execution_state is ExecutionState.NONE
        and EXECUTE_RIGHT not in rights
        and not action.is_expired(now_ms)
    )
    in_doubt = action.execution_state is ExecutionState.OUTCOME_UNKNOWN
    return None if awaited or elsewhere or in_doubt or stored.sending else "nothing_to_wait_for"


def _matches_digest(action: Action, digest: str) -> bool:
    given = digest.removeprefix(DIGEST_PREFIX)
    return bool(given) and action.digest.removeprefix(DIGEST_PREFIX).startswith(given)


async def _look(call: Call, action_id: ActionId, until_ms: int) -> FoundAction:
    workspace_id = call.caller.workspace_id

    def begin() -> Transaction[FoundAction]:
        action, policy = yield from actions.find(workspace_id, action_id)
        (action,) = yield from actions.weigh(workspace_id, (action,), call.services.clock.now_ms())
        decided = yield from list_decisions(action)
        needed, missing = policy.require(action), None
        given: tuple[GivenApprovalView, ...] = ()
        if needed.approvers > 1 or needed.groups:
            found = yield from approvals.list_given(action)
            now = tuple(each for each in found if each.revision == action.revision)
            valid = [each for each in now if approvals.counts(each, action, needed)]
            missing = max(0, needed.approvers - len(valid))
            given = tuple(_view_given(each, each in valid) for each in now)
        result = None
        if action.status is Status.EXECUTED:
            results = yield from hooks.read_results(workspace_id, (action.run_id,), call.services.effects)
            result = results.get(action.run_id)
        sending = action.execution_state is ExecutionState.EXECUTING
        if state_of(action) in (APPROVED, RETRYABLE):
            job = yield from send_jobs.find(action)
            sending = job is not None and job.is_open and job.due_ms <= until_ms
        measured_ms = result.due_ms if result is not None else None
        return FoundAction(action, decided, measured_ms, given, missing, sending)

    return await call.services.store.read(begin)


def _view_given(each: GivenApproval, counts: bool) -> GivenApprovalView:
    return GivenApprovalView(
        by=each.name, at=iso_time(each.at_ms), assurance=each.assurance.value, counts=counts
    )


def _changes(before: Action, after: Action) -> tuple[str, ...]:
    fields = [name for name in before.effect.__struct_fields__ if not name.startswith("schedule_")]
    changed = [name for name in fields if getattr(before.effect, name) != getattr(after.effect, name)]
    if before.schedule_ms != after.schedule_ms:
        changed.append("schedule")
    return tuple(changed)


def answer_shown(stored: FoundAction, waited: Waited, around: Circumstances, now_ms: int) -> ShownAction:
    action, decision = stored.action, stored.decision
    message = f"{_message(stored, around, now_ms)}{_quote_comments(stored.decisions)}"
    shown = f"**{_title(action, around, now_ms)}.**\n\n{render_card(action, around)}"
    return from_record(
        ShownAction,
        build_record(action, now_ms),
        ok=True,
        decision=from_record(DecisionView, decision, at=iso_time(decision.at_ms))
        if decision is not None
        else None,
        result=_result(stored),
        waiting=waited,
        user_message=message,
        agent_guide=make_guide({name_of(action): shown}, _next(stored, around, now_ms)),
        review_url=around.review_url or msgspec.UNSET,
        approvals=stored.given if stored.missing is not None else msgspec.UNSET,
        approvals_missing=stored.missing if stored.missing is not None else msgspec.UNSET,
    )


def _title(action: Action, around: Circumstances, now_ms: int) -> str:
    """Return the action's section; a workflow step is never sent, and what sends itself is on its way."""
    if around.sends and around.obstacle is None:
        return "Approved, about to go out"
    section = find_section(action, now_ms)
    of_a_step = action.effect.connector == WORKFLOW
    return STEP_TITLES.get(section, SECTION_TITLES[section]) if of_a_step else SECTION_TITLES[section]


def _result(stored: FoundAction) -> ResultView | None:
    action = stored.action
    over = action.status in (Status.EXECUTED, Status.FAILED)
    if not over and action.execution_state in (ExecutionState.NONE, ExecutionState.EXECUTING):
        return None
    return ResultView(
        status=action.status if over else action.execution_state,
        at=iso_time(action.executed_ms),
        external_id=action.external_id,
        external_url=action.external_url,
        detail=str(action.metadata.get("lastAttempt", "")) if action.status is not Status.EXECUTED else "",
        measured_at=iso_time(stored.measured_ms),
        output=action.metadata.get(OUTPUT),
    )


def _message(stored: FoundAction, around: Circumstances, now_ms: int) -> str:
    """Return the current state and its reason, as a sentence for the person."""
    action, decision = stored.action, stored.decision
    if action.status is Status.EXECUTED and action.effect.connector != WORKFLOW:
        if find_section(action, now_ms) is Section.UNDONE:
            return explain(action, around, now_ms)
        when, said = readable_time(action.executed_ms or now_ms, now_ms), explain(action, around, now_ms)
        later = f"Results arrive {readable_time(stored.measured_ms or 0, now_ms)}."
        if (stored.measured_ms or 0) <= now_ms or not action.gives_numbers:
            later = ""
        return " ".join(filter(None, ("" if is_test(action) else f"It went out {when}.", said, later)))
    if action.execution_state is ExecutionState.OUTCOME_UNKNOWN:
        return f"{explain(action, around, now_ms)} Look there and tell me."
    if action.status is Status.REJECTED:
        by = decision.by if decision is not None and decision.assurance != Assurance.AGENT else "You"
        return f"{by} rejected it{f': “{action.rejection}”' if action.rejection else ''}."
    if action.status is not Status.AWAITING_APPROVAL or action.is_expired(now_ms):
        due = f"Not before {say_due(action)}. " if (action.schedule_ms or 0) > now_ms else ""
        return f"{due}{explain(action, around, now_ms)}"
    if is_overdue(action, now_ms):
        return "Its time has passed, so it needs another one before it can be approved."
    if decision is not None and decision.what == "changes asked":
        comment = f": “{decision.comment}”" if decision.comment else ""
        return f"{_name(decision)} asked for changes{comment}."
    if decision is not None and decision.what == "edited" and not decision.assurance:
        return describe_binding(action)
    if decision is not None and decision.what == "edited":
        said = describe_edit(_name(decision), decision.changed)
        return f"{said}. It waits for approval as it is now."
    if stored.missing and stored.given:
        by = ", ".join(each.by for each in stored.given if each.counts)
        if not by:
            return (
                f"No approval counts any more: {_count(stored.missing)} must approve it on the review page."
            )
        return f"{by} approved it; {_count(stored.missing)} more must. It waits for them on the review page."
    return "It waits for approval."


def _quote_comments(decided: tuple[GivenDecision, ...]) -> str:
    """Quote what those wrote who approved it last."""
    last = takewhile(lambda each: each.what.startswith("approved"), decided)
    return "".join(f" {_name(each)} wrote: “{each.comment}”." for each in last if each.comment)


def _count(people: int) -> str:
    return "one person" if people == 1 else f"{people} people"


def _name(decision: GivenDecision) -> str:
    """Name the person who decided; for a key, the person's agent."""
    return decision.by if decision.assurance != Assurance.AGENT else "Your agent"


def _next(stored: FoundAction, around: Circumstances, now_ms: int) -> tuple[SuggestedCall, ...]:
    action = stored.action
    following = next_calls(action, around)
    if stored.decision is not None and stored.decision.what == "changes asked":
        following = tuple(sorted(following, key=lambda call: call.name != EDIT))
    if action.status is Status.AWAITING_APPROVAL and not action.is_expired(now_ms):
        wait = wait_call(action)
        return (*following, wait) if around.may_decide and not around.unfit else following
    return following


TOOLS = (
    Tool(
        name=NAME,
        title="Show an action",
        description="One action as it is now: content, status, the newest decision with its comment, what became of "
        "it. With waitSeconds (at most 50) it answers when the user decides on the page. USE WHEN you need the "
        "current state, to show a draft again or the exact text of an action, or the user decides on the page. Do not "
        "call it in a loop without waitSeconds.",
        behaviour=READS,
        request=GetAction,
        reply=ShownAction,
        handler=get_action,
    ),
)
