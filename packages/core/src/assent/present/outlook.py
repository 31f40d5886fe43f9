"""What an action is for a caller now, in words: its circumstances, the answer to a decision and to a new check, and
what a refusal adds.

The engine reads an `Outlook` once, before a transaction (`assent.engine.actions.circumstances`); it then answers for
the action that the transaction returns (C29, E24).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from assent.gate.effects import EffectTypes, TypeKey, key_of_type
from assent.gate.policy import Policy, Requirement, client_decides
from assent.gate.preflight import Readiness, is_overdue, with_readiness
from assent.gate.records import (
    OFFERED_AS,
    OPEN,
    OUTPUT,
    PARTLY,
    WORKFLOW,
    Action,
    Assurance,
    Effect,
    ExecutionState,
    Freeze,
    Status,
    find_stop,
    is_test,
    name_of,
    read_proposal,
)
from assent.gate.review_link import DECIDE_RIGHT, EXECUTE_RIGHT
from assent.gate.undo import offer
from assent.kernel.canonical import short_digest
from assent.kernel.guide import Guide, make_guide
from assent.kernel.ids import RunId
from assent.kernel.limits import SECOND_MS
from assent.kernel.reasons import MEANINGS
from assent.kernel.refusals import Reason, Recovery, Replay
from assent.kernel.structs import Record, WireRecord
from assent.kernel.times import iso_time
from assent.present.cards import explain_no_dialog, goes_to, manual_brief, render_card
from assent.present.guidance import STOP_RULE
from assent.present.next_steps import (
    Circumstances,
    describe_decision,
    describe_outcome,
    next_calls,
    say_unrecorded,
)
from assent.present.refusals import describe_elsewhere, describe_freeze, explain_missing_type
from assent.present.rule_text import describe_need
from assent.present.status_report import describe_next_try, describe_test
from assent.present.workflow_step import describe_step

WRITE_RIGHT: Final = "runs:write"

READY: Final = Readiness(ready=True)
NOT_LIVE: Final = Readiness(
    ready=False,
    blocker=Reason.PROVIDER_NOT_LIVE.value,
    fix_hint="Choose a channel whose connector is live, or publish by hand.",
)

DENIED: Final = "The policy of this workspace does not permit this: {why}"
NEEDS_SIGN_IN: Final = "A signed-in person decides this on the review page."
NOT_THIS_CHAT: Final = "This chat cannot decide it. Open the review page and sign in to decide."
NOT_SEEN: Final = (
    "That was not part of what you saw before, so nothing was sent: look at it as it is now, and approve it."
)

SHOWN: Final = frozenset({Reason.REQUIRES_APPROVAL, Reason.STALE_REVISION})
"""Refusals that tell the agent to show the content."""
LINKED: Final = frozenset({Reason.REQUIRES_APPROVAL, Reason.OUTCOME_UNKNOWN})
"""Refusals that a person answers on the review page, whatever became of the action."""


class DecisionReply(WireRecord, kw_only=True):
    """The result of a decision."""

    ok: bool
    action_id: str
    run_id: str
    status: str
    execution_state: str
    revision: int
    digest: str
    assurance: str | None
    approved_by: str | None
    approved_at: str | None
    user_message: str
    stop_rule: str
    agent_guide: Guide | UnsetType = UNSET
    review_url: str | UnsetType = UNSET
    """The page on which a person goes on, if this caller cannot."""
    sent: bool | UnsetType = UNSET
    """Whether the action was sent in the same call, if that was asked for."""
    external_url: str | UnsetType | None = UNSET
    not_sent: Recovery | UnsetType = UNSET
    """Why it was not sent."""
    replay: Replay | UnsetType = UNSET


class Executed(WireRecord, kw_only=True, omit_defaults=True):
    """The answer of every executor. A replay differs only in `replay`."""

    ok: bool
    action_id: str
    run_id: str
    status: str
    external_id: str
    executed_at: str
    external_url: str | UnsetType = UNSET
    post_id: str | UnsetType = UNSET
    message_id: str | UnsetType = UNSET
    partly: str | UnsetType = UNSET
    """The part that was not delivered, in words for the reviewer."""
    rest_action_id: str | UnsetType = UNSET
    """The action staged for the remainder; it needs its own approval."""
    output: Any = None
    """The JSON that the effect returned for the agent."""
    user_message: str = ""
    agent_guide: Guide | UnsetType = UNSET
    replay: Replay | UnsetType = UNSET


class Unready(Record):
    """Why an account cannot be used yet, and the page that connects it, if one would help."""

    readiness: Readiness
    connect_url: str | None = None


class RunLinks(Record):
    """The signed addresses of a run for the caller."""

    review_url: str
    look_token: str
    """The token that shows a picture of the run; empty if none is shown."""


class Outlook(Record, kw_only=True):
    """Policy, readiness and rights, read before a transaction. `describe` applies them to an action."""

    caller: str
    """The caller's name in the journal."""
    rights: frozenset[str]
    client_dialog: bool
    """Whether the caller's client can ask its person in a dialog of its own."""
    policy: Policy
    unready: Mapping[tuple[object, ...], Unready]
    """Accounts that are not ready, by `key_of_account`."""
    effects: EffectTypes
    missing: frozenset[TypeKey]
    """The types that are not registered any more, or have changed since."""
    frozen: tuple[Freeze, ...]
    """What stops something in the workspace."""
    links: Mapping[RunId, RunLinks]
    now_ms: int
    due: Mapping[str, int] = {}
    """When the server sends approved actions without a date, by their ids."""

    def readiness_of(self, effect: Effect) -> Readiness:
        """Return the readiness for an effect at the time this was read."""
        found = self.unready.get(key_of_account(effect)) if self.unready else None
        return found.readiness if found is not None else READY

    def refresh(self, action: Action) -> Action:
        """Return an open action with the present readiness in its preflight."""
        if action.status not in OPEN:
            return action
        found = with_readiness(action.preflight, self.readiness_of(action.effect))
        return msgspec.structs.replace(action, preflight=found)

    def describe(self, action: Action) -> Circumstances:
        """Return the circumstances of an action. The policy matters only while it waits."""
        effect, rights, links = action.effect, self.rights, self.links[action.run_id]
        unready = self.unready.get(key_of_account(effect)) if action.status in OPEN else None
        unfit, help_url = action.view.unfit, None
        missing = bool(self.missing) and key_of_type(action) in self.missing
        blocker = unfit.words if unfit is not None else None
        if missing:
            blocker = explain_missing_type(self.effects, action)
        elif unfit is None and unready is not None:
            help_url = unready.connect_url
            blocker = _why_not(unready, action.view.label)
        may = DECIDE_RIGHT in rights and (EXECUTE_RIGHT in rights or not action.view.approval_executes)
        who = None if may else NOT_THIS_CHAT
        client_asks = False
        if who is None and action.status is Status.AWAITING_APPROVAL:
            needed = self.policy.require(action)
            client_asks = self.client_dialog and client_decides(needed)
            who = _explain_no_dialog(action) if client_asks else explain_who_decides(needed)
        foreign = effect.connector in self.effects.owned and read_proposal(action).caller != self.caller
        executes = EXECUTE_RIGHT in rights
        in_doubt = action.execution_state is ExecutionState.OUTCOME_UNKNOWN
        return Circumstances(
            blocker=blocker,
            help_url=help_url,
            frozen=describe_freeze(find_stop(self.frozen, action), action),
            connectable=unfit is None
            and unready is not None
            and unready.readiness.connectable
            and not missing,
            unfit=unfit is not None or missing,
            missing=missing,
            may_edit=DECIDE_RIGHT in rights and not foreign,
            may_decide=who is None,
            client_asks=client_asks and who is None,
            may_execute=executes,
            may_write=WRITE_RIGHT in rights,
            who_decides=who,
            review_url=links.review_url if who is not None or not executes or in_doubt else None,
            views={
                media.url: f"{media.url}?token={links.look_token}" for media in effect.media if media.digest
            },
            next_try=describe_next_try(action, self.now_ms),
            sends=_describe_sending(due_ms, self.now_ms)
            if (due_ms := self.due.get(action.action_id)) is not None
            else "",
            overdue=is_overdue(action, self.now_ms),
            expired=action.is_expired(self.now_ms),
            undo=offer(action, self.now_ms),
        )

    def answer_decision(self, action: Action, move: str) -> DecisionReply:
        """Return the answer to a decision, with the next calls."""
        approval, around = action.approval, self.describe(action)
        message = describe_step(action) if action.effect.connector == WORKFLOW else None
        message = message or describe_decision(move, action, around)
        waits = action.status is Status.AWAITING_APPROVAL and move == "edit"
        card = render_card(action, around) if waits else None
        if action.status is Status.APPROVED and action.view.executes == "person":
            card = manual_brief(action.effect, action.view).text
        return DecisionReply(
            ok=True,
            action_id=action.action_id,
            run_id=action.run_id,
            status=action.status,
            execution_state=action.execution_state,
            revision=action.revision,
            digest=short_digest(action.digest),
            assurance=(approval.claimed or approval.assurance) if approval is not None else None,
            approved_by=approval.by if approval is not None else None,
            approved_at=iso_time(approval.at_ms) if approval is not None else None,
            user_message=message,
            agent_guide=make_guide({name_of(action): card} if card else {}, next_calls(action, around)),
            review_url=around.review_url or UNSET,
            stop_rule=STOP_RULE if waits else "Do only what the human just decided.",
        )

    def complete(self, recovery: Recovery, action: Action) -> Recovery:
        """Add the present action to a refusal: its next calls and, where the texts tell the agent to show it, its
        card and the link."""
        early = False
        if recovery.reason is Reason.REQUIRES_APPROVAL:
            action, early = _as_refused(action, self.now_ms)
        around = self.describe(action)
        if early:
            # As if it waited: the policy says who decides, also before its time.
            around = self.describe(msgspec.structs.replace(action, status=Status.AWAITING_APPROVAL))
            around = msgspec.structs.replace(around, may_execute=False)
        waits = action.status is Status.AWAITING_APPROVAL
        shows = recovery.reason in SHOWN and (waits or _is_unsent(action))
        shows = shows or (recovery.reason is Reason.MISSING_CONNECTOR and action.view.executes == "person")
        shows = shows or (recovery.reason is Reason.PROVIDER_NOT_LIVE and is_test(action))
        card = {name_of(action): render_card(action, around)} if shows else {}
        added: dict[str, Any] = {"agent_guide": make_guide(card, next_calls(action, around))}
        if recovery.review_url is UNSET and (recovery.reason in LINKED or shows):
            added["review_url"] = self.links[action.run_id].review_url
        if recovery.reason is Reason.MISSING_CONNECTOR and waits and around.blocker is not None:
            added["user_message"] = say_unrecorded(action, around)
        usual = recovery.summary_for_user == MEANINGS[Reason.REQUIRES_APPROVAL].summary
        if usual and waits and not around.may_decide:
            words = describe_elsewhere(around.decider_note)
            added |= {"user_message": words.user_message, "fix_action_for_agent": words.fix}
            added |= {"stop_rule": words.stop_rule}
        return msgspec.structs.replace(recovery, **added)


def answer_executed(action: Action) -> Executed:
    """Return the answer about an action that was performed."""
    external_id = action.external_id or ""
    receipt = action.view.receipt
    message = describe_outcome(action, action.measure_after_ms if action.gives_numbers else None)
    if said := describe_test(action):
        message = f"{said} {message}"
    return Executed(
        ok=True,
        action_id=action.action_id,
        run_id=action.run_id,
        status=action.status,
        external_id=external_id,
        executed_at=iso_time(action.executed_ms) or "",
        # The address on the receipt of a reverse is that of what is gone.
        external_url=action.external_url if action.external_url and not action.view.removes else UNSET,
        post_id=external_id if receipt == "postId" else UNSET,
        message_id=external_id if receipt == "messageId" else UNSET,
        partly=action.metadata.get(PARTLY, UNSET),
        rest_action_id=action.metadata.get(OFFERED_AS, UNSET),
        output=action.metadata.get(OUTPUT),
        user_message=message,
        agent_guide=make_guide(
            {}, next_calls(action, Circumstances(undo=offer(action, action.executed_ms or 0)))
        ),
    )


def key_of_account(effect: Effect) -> tuple[object, ...]:
    """Return what readiness depends on: connector, channel, sender and account."""
    account = tuple(sorted(effect.target.items())) if effect.target is not None else None
    return effect.connector, effect.channel, effect.sender, account


def explain_who_decides(needed: Requirement) -> str | None:
    """Explain who decides if an approval in the chat does not suffice."""
    if needed.denied:
        return DENIED.format(why=needed.denied)
    if needed == Requirement(Assurance.AGENT, rules=needed.rules):
        return None
    if client_decides(needed):
        return NEEDS_SIGN_IN
    who = describe_need(needed)
    verb = "decides" if needed.approvers == 1 else "decide"
    return f"{who[0].upper()}{who[1:]} {verb} this on the review page."


def _explain_no_dialog(action: Action) -> str | None:
    """Explain who decides if the client's dialog cannot show the content."""
    why = explain_no_dialog(action)
    return f"{why} {NEEDS_SIGN_IN}" if why is not None else None


def _describe_sending(due_ms: int, now_ms: int) -> str:
    left = max(0, due_ms - now_ms + SECOND_MS - 1) // SECOND_MS
    when = f"in {left} second{'' if left == 1 else 's'}, at {iso_time(due_ms)[11:19]} UTC" if left else "now"
    return f"The server sends it {when}."


def _why_not(unready: Unready, label: str) -> str:
    """Explain why an effect cannot be performed: briefly before a link, else in full."""
    if unready.connect_url is not None and unready.readiness.summary is not None:
        return unready.readiness.summary
    return unready.readiness.fix_hint or f"{label} is not connected yet."


def advise(unready: Unready) -> str:
    """Tell a person how to make an effect deliverable: by the link if there is one, else in full."""
    if unready.connect_url is not None and unready.readiness.summary is not None:
        return f"{unready.readiness.summary} Connect it here: {unready.connect_url}"
    return unready.readiness.fix_hint or "It cannot go out yet."


def describe_binding(bound: Action) -> str:
    """Tell a reviewer that the action was bound to an account just now."""
    effect = bound.effect
    where = goes_to(effect.target)
    if effect.sender:
        through = f", through {where}" if where else ""
        return f"It would go out from {effect.sender}{through}. {NOT_SEEN}"
    return f"It would go out to {where}. {NOT_SEEN}" if where else f"It is connected. {NOT_SEEN}"


def _is_unsent(action: Action) -> bool:
    """Whether it is approved and no attempt is in flight or in doubt."""
    return action.status is Status.APPROVED and action.execution_state in ("none", "retryable")


def _as_refused(action: Action, now_ms: int) -> tuple[Action, bool]:
    """Return the action as a refused send leaves it: waiting again, if its approval is no longer
    enough. Also return whether it is only too early to send it."""
    if not _is_unsent(action):
        return action, False
    if action.schedule_ms is not None and now_ms < action.schedule_ms:
        return action, True
    return msgspec.structs.replace(action, status=Status.AWAITING_APPROVAL), False
