"""Refusals about an action: their texts, and the fields beside them. One row has all four texts, so that they
agree. The gate says which case it is (`gate.gate.Objection`); `word` turns that into the refusal that is answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Unpack

import msgspec

from assent.gate.effects import EffectTypes
from assent.gate.gate import Case, Objection
from assent.gate.next_try import read_next_try
from assent.gate.outcomes import NotSent, OutcomeUnknown
from assent.gate.policy import Requirement, client_decides
from assent.gate.preflight import Readiness
from assent.gate.records import (
    OPEN,
    OUTCOME_TOLD,
    SUPERSEDED,
    Action,
    Assurance,
    ExecutionState,
    Freeze,
    Status,
    when_undone,
)
from assent.gate.rules.drift import DriftChange, describe_changes
from assent.gate.undo import when_too_late
from assent.gate.views import Unfit
from assent.kernel.guide import make_guide
from assent.kernel.limits import SECOND_MS
from assent.kernel.refusals import MEANINGS, AddedFields, Problem, Reason, Refusal, Retry, Words
from assent.kernel.times import full_time, readable_time
from assent.present.next_steps import repair_call, say_due
from assent.present.rule_text import describe_need
from assent.present.status_report import describe_next_try, describe_test, plain_detail, say_now
from assent.present.workflow_step import REPLACED

IN_PROGRESS_RETRY_SECONDS: Final = 2
UNDOABLE: Final = "an executed action that can still be undone, as its card says"


@contextmanager
def wording() -> Iterator[None]:
    """Give words to what the gate objects to inside."""
    try:
        yield
    except Objection as objection:
        raise word(objection) from None


def word(objection: Objection) -> Refusal:
    """Build the refusal for what the gate objects to."""
    action, needed = objection.action, objection.needed or Requirement(Assurance.AGENT)
    match objection.case:
        case Case.IN_PROGRESS:
            return in_progress(action)
        case Case.OUTCOME_UNKNOWN:
            return unknown_outcome(action)
        case Case.CLOSED:
            return refuse_closed(action, Reason.ACTION_CLOSED)
        case Case.ENDED:
            return refuse_closed(action, Reason.REQUIRES_APPROVAL)
        case Case.EXPIRED:
            return refuse_expired(action)
        case Case.DENIED:
            return refuse_denied(action, needed)
        case Case.WAITING:
            return needs_approval(action, describe_waiting(action, needed))
        case Case.UNMET:
            return needs_approval(action, describe_policy(action, needed))
        case Case.UNSEALED:
            return needs_approval(action, NOT_OURS)
        case Case.EARLY:
            return needs_approval(action, describe_early(action))
        case Case.OVERDUE:
            return refuse_overdue(action)
        case Case.UNFIT:
            return refuse_unfit(action)
        case Case.STALE:
            return refuse_stale(action)
        case Case.NOTHING_TO_WITHDRAW:
            return needs_approval(action, NOTHING_TO_WITHDRAW)


NOT_OURS: Final = Words(
    summary="The stored approval is not valid.",
    user_message="The stored approval does not bear this server's seal, so nothing was sent. Read the content and "
    "approve it again.",
)

APPROVER_HAS_LEFT: Final = "One of the people who approved it may no longer decide here."

APPROVER_LEFT: Final = Words(
    summary="An approval is missing again.",
    user_message="Nothing was sent: one of the people who approved it may no longer decide here. Another person has to "
    "approve it on the review page.",
    fix="STOP. Give the user the review link (reviewUrl): another person has to approve it there.",
    stop_rule="Do not send this action before another person has approved it.",
)

NOTHING_TO_WITHDRAW: Final = Words(
    summary="There is nothing to withdraw.",
    user_message="This is not approved, so there is nothing to withdraw. Nothing was sent.",
    fix="STOP. Say that nothing was sent and that the action still waits. If the user does not want it at all, reject "
    "it with their reason.",
    stop_rule="Do not send this action.",
)

SIGNED_IN_ANSWER: Final = Words(
    summary="A signed-in person has to answer this.",
    user_message="Only a signed-in person can say that this did not happen, because it may then be sent again. Please "
    "open the review link, sign in and answer there.",
    fix="STOP. Give the user the review link (reviewUrl): this answer does not count in the chat.",
    stop_rule="Never send it again before a signed-in person said that it did not happen.",
)

_LOST_BY_RESTORE: Final = Words(
    user_message="It is not known whether it went out: the server was restored from a backup, and this may have been "
    "sent after the backup was taken. The server asks the provider where it can. If it stays open, please look there "
    "and tell me, or answer on the review page.",
)

_REPLACED: Final = Words(
    summary="Another version was submitted.",
    user_message=REPLACED,
    fix="STOP. Show and decide the version that was submitted last (chieflab_list_pending_actions).",
    stop_rule="Do not decide about the earlier version.",
)


def describe_unknown(action: Action) -> Words | None:
    """Words for an unknown outcome; None for the usual ones, which name the provider."""
    return _LOST_BY_RESTORE if action.attempt is not None and action.attempt.lost_by_restore else None


def describe_expired(action: Action) -> Words | None:
    """Words for an expired action; None for the usual ones."""
    return _REPLACED if SUPERSEDED in action.metadata else None


_CLOSED: Final[dict[Status, Words]] = {
    Status.EXECUTED: Words(
        summary="Already {sent}.",
        user_message="This was already {sent}; it will not be {sent} again and cannot be changed.",
        fix="STOP. Say that it is out. Do not ask for approval; if the user wants something else to go out, prepare a "
        "new action.",
        stop_rule="Do not execute, approve or edit this action again.",
    ),
    Status.REJECTED: Words(
        summary="This was rejected.",
        user_message="This was rejected and will never be {sent}. I can prepare a new one.",
        fix="STOP. Do not ask for approval of this one. If the user wants another, prepare a new action that heeds the "
        "reason for the rejection.",
        stop_rule="Do not execute, approve or edit this action.",
    ),
    Status.FAILED: Words(
        summary="The provider refused this.",
        user_message="The provider rejected this; nothing was {sent}. I can prepare a new one.",
        fix="STOP. Say that it did not go out. Do not ask for approval of this one; if the user wants, prepare a new "
        "action.",
        stop_rule="Do not execute, approve or edit this action again.",
    ),
}

_CLOSED_STEP: Final[dict[Status, Words]] = {
    Status.EXECUTED: Words(
        summary="This step was already passed.",
        user_message="This step was approved and passed before; that cannot be changed.",
        fix="STOP. The workflow is past this step: go on from its latest answer.",
        stop_rule="Do not decide about this step again.",
    ),
    Status.REJECTED: Words(
        summary="This was rejected.",
        user_message="What was submitted for this step was rejected; it stays so.",
        fix="STOP. Submit other content for the step, which then needs a new approval.",
        stop_rule="Do not submit the rejected content again.",
    ),
}


def describe_closed(action: Action) -> Words:
    if action.is_step:
        return _CLOSED_STEP.get(action.status, _CLOSED_STEP[Status.REJECTED])
    row = _CLOSED[action.status]
    texts = (text.format(sent=_past_verb(action)) for text in (row.summary or "", row.user_message or ""))
    summary, user_message = texts
    return msgspec.structs.replace(row, summary=summary, user_message=user_message)


def _past_verb(action: Action) -> str:
    return action.view.done.lower()


def describe_early(action: Action) -> Words:
    """Words for an approved action before its scheduled time."""
    when = say_due(action)
    return Words(
        summary="This goes out later.",
        user_message=f"This was approved for {when} and goes out then. To send it earlier, change its time and approve "
        "it again.",
        fix="STOP. Say when it goes out: the server sends it then. To send it earlier, edit its time and ask for "
        "approval again.",
        stop_rule="Do not call publish or send before that time.",
    )


_WAITING_STEP: Final = Words(
    user_message="This step of the workflow waits for your approval. Read what was submitted, and approve it in the "
    "chat or on the review page.",
    fix="STOP. Show the content and its approval commands in the chat; give the review link only as a fallback. No "
    "executor passes a step: after the human approved, make the refused workflow_advance call again, as it was sent.",
    stop_rule="Do not go past this step until a human approved it, and do not call an executor for it.",
)


def describe_waiting(action: Action, needed: Requirement) -> Words | None:
    """Words for an executor called on an action that waits for approval; None for the usual
    ones."""
    if action.view.unfit is not None:
        return _describe_unfit(action.view.unfit)
    return describe_policy(action, needed) or (_WAITING_STEP if action.is_step else None)


def describe_policy(action: Action, needed: Requirement) -> Words | None:
    """Words if the policy requires more than an approval in the chat, else None."""
    if needed == Requirement(Assurance.AGENT, rules=needed.rules):
        return None
    if client_decides(needed):
        return _BY_CLIENT
    who = describe_need(needed)
    has = "has" if needed.approvers == 1 else "have"
    named = f" ({', '.join(needed.rules)})" if needed.rules else ""
    return Words(
        summary=f"{who[0].upper()}{who[1:]} {has} to approve this.",
        user_message=f"This workspace's policy{named} asks for {who} to approve a {action.preflight.severity}-risk "
        "action. Open the review link, sign in there and decide.",
        fix="STOP. Show the content and give the user the review link (reviewUrl): an approval in the chat does not "
        "count for this action.",
        stop_rule="Do not approve, publish or send this action; people decide it on the review page.",
    )


_BY_CLIENT: Final = Words(
    summary="You have to confirm this yourself.",
    user_message="This workspace's policy asks you to confirm this in your chat program's own dialog, or signed in on "
    "the review page.",
    fix="STOP. Show the content. When the user says yes, chieflab_approve_action makes the client ask them, if it can; "
    "else give them the review link (reviewUrl).",
    stop_rule="Do not publish or send this action before it is approved.",
)


def describe_elsewhere(decider_note: str) -> Words:
    """Words for an action whose approval this caller cannot record."""
    return Words(
        user_message=f"Nothing was sent. {decider_note}",
        fix="STOP. Show the content and give the user the review link (reviewUrl): this chat cannot approve it.",
        stop_rule="Do not approve, publish or send this action; it is decided on the review page.",
    )


def describe_by_hand(action: Action) -> Words:
    """Words for an executor called on an action that a person publishes."""
    done = "copy the text, do it, and tell me that you did"
    if action.view.mail:
        done = "copy the text, send it from your own mail program, and tell me that you did"
    elif action.view.has_address:
        done = "copy the text, post it, and tell me the address it is at"
    return Words(
        summary=f"This is {_past_verb(action)} by hand.",
        user_message=f"This one is {_past_verb(action)} by hand: {done}.",
        fix="STOP. Show the text to copy (chieflab_use_manual_fallback tells where and how). When the user says that "
        "it is out, call chieflab_record_manual_publish.",
        stop_rule="Do not say that it was published or sent before the user said so.",
    )


def describe_missing_type(action: Action) -> Words:
    """Words for an action whose type is not registered any more."""
    name = f"“{action.view.title or action.view.noun}” ({action.effect.type})"
    return Words(
        summary="The extension for this is not installed any more.",
        user_message=f"The extension that does {name} is not installed on this server any more. It cannot be approved, "
        "changed or executed. You can reject it.",
        fix="STOP. Show the message. Only rejecting the action and withdrawing its approval are possible, until the "
        "person who runs the server installs the extension again.",
        stop_rule="Do not pretend that it was executed.",
    )


def describe_changed_type(action: Action) -> Words:
    """Words for an action whose type has another version or a higher risk than it was prepared with."""
    name = f"“{action.view.title or action.view.noun}” ({action.effect.type})"
    return Words(
        summary="The extension for this has changed since it was prepared.",
        user_message=f"The extension that does {name} was changed after this was prepared, and may do something else "
        "now. It cannot be approved, changed or executed. You can reject it, and I can prepare it again.",
        fix="STOP. Show the message. If the user still wants it, reject this action and prepare it again with the same "
        "arguments; it then needs a new approval.",
        stop_rule="Do not pretend that it was executed.",
    )


def _describe_unfit(unfit: Unfit) -> Words:
    """Words for content that cannot be delivered as it is, whether it is to be approved or sent."""
    return Words(
        summary="It cannot be approved as it is.",
        user_message=f"Nothing was sent. {unfit.words}",
        fix="STOP. Ask the user, change the action with chieflab_edit_action, show the new version and wait for a yes.",
        stop_rule="Do not approve or execute this action before the user has seen the changed version.",
    )


def refuse_unfit(action: Action) -> Refusal:
    """Build the refusal for undeliverable content, such as a mail without recipients. The call was right, so it is not
    to be corrected: a person says what to change, and the call for that stands beside it."""
    unfit = action.view.unfit or Unfit("", "")
    refusal = Refusal(
        Reason.VALIDATION_ERROR,
        words=_describe_unfit(unfit),
        action_id=action.action_id,
        status=action.status,
        problems=[Problem("actionId", "an action that could go out once it is approved", unfit.gate)],
        retry=Retry.NEVER,
    )
    return Refusal.from_answer(
        msgspec.structs.replace(refusal.recovery(), agent_guide=make_guide({}, [repair_call(action)]))
    )


def refuse_undo(action: Action, now_ms: int) -> Refusal:
    """Build the refusal for an undo of what did not happen or cannot be taken back. The call was right."""
    ends_ms = when_too_late(action)
    if action.status is not Status.EXECUTED:
        why = "This has not gone out, so there is nothing to take back."
    elif (gone_ms := when_undone(action)) is not None:
        why = f"This was undone {readable_time(gone_ms, now_ms)}."
    elif OUTCOME_TOLD in action.metadata:
        why = "That this went out was told by a person: there is no receipt to take it back by."
    elif ends_ms is not None and ends_ms <= now_ms:
        why = f"This could be undone until {full_time(ends_ms)}, and that time has passed."
    else:
        why = f"{action.view.label} cannot be taken back by this server once it is out."
    return Refusal(
        Reason.VALIDATION_ERROR,
        words=Words(
            summary="It cannot be undone.",
            user_message=f"{why} Nothing was changed.",
            fix="STOP. Show the message. What is approved and not sent is stopped by chieflab_withdraw_approval.",
            stop_rule="Do not say that it was taken back, and do not try to undo it in another way.",
        ),
        action_id=action.action_id,
        status=action.status,
        problems=[Problem("actionId", UNDOABLE, f"{action.effect.type}, {action.status}")],
        retry=Retry.NEVER,
    )


def refuse_overdue(action: Action) -> Refusal:
    """Build the refusal for an action whose time has passed: an approval would send it at once."""
    words = Words(
        summary="Its time has passed.",
        user_message=f"It was to go out on {say_due(action)}, and that time has passed. It is not approved and "
        "nothing was sent. When should it go out: now, or at another time?",
        fix="STOP. Ask the user for a new time, set it with the recovery tool, show the new version and wait for a "
        "yes.",
        stop_rule="Do not approve this action before the user has seen the new time.",
    )
    return Refusal(
        Reason.VALIDATION_ERROR,
        words=words,
        action_id=action.action_id,
        status=action.status,
        problems=[Problem("actionId", "an action whose time has not passed", "one whose time has passed")],
        recovery_tool="chieflab_edit_action",
        recovery_args={"actionId": action.action_id},
        recovery_needs={"scheduleFor": "now, or when it goes out"},
    )


def refuse_stale(action: Action, *, user_message: str | None = None) -> Refusal:
    """Build the STALE_REVISION refusal. `present.outlook` adds the present content."""
    return Refusal(
        Reason.STALE_REVISION,
        user_message=user_message,
        status=action.status,
        action_id=action.action_id,
    )


def needs_approval(action: Action, words: Words | None = None, *, review_url: str | None = None) -> Refusal:
    """Build S4's `requires_approval`: no recovery tool, no retry, a review link (E92, C15), which
    `present.outlook` adds for its caller."""
    return Refusal(
        Reason.REQUIRES_APPROVAL,
        words=words,
        status=action.status,
        action_id=action.action_id,
        review_url=review_url,
    )


def refuse_settled(action: Action) -> Refusal:
    """Build the refusal of an answer about an outcome that is not in question."""
    closed = action.execution_state is ExecutionState.DONE
    return Refusal(
        Reason.ACTION_CLOSED if closed else Reason.REQUIRES_APPROVAL,
        words=Words(
            summary="The outcome is not in question.",
            user_message=f"There is nothing to find out here: this {say_now(action)}.",
            fix="STOP. There is nothing to resolve; chieflab_get_action shows what became of the action.",
            stop_rule="Do not report an outcome that the user did not tell you.",
        ),
        status=action.status,
        external_id=action.external_id,
        action_id=action.action_id,
    )


def refuse_denied(action: Action, needed: Requirement) -> Refusal:
    """Build the refusal for an action that the policy denies, no matter who approves it."""
    rule = needed.rules[0]
    expected = f"a value that the rule {rule} can be judged by"
    return Refusal(
        Reason.DENIED_BY_POLICY,
        facts={"rule": rule, "why": needed.denied},
        problems=[Problem(needed.unknown, expected, "unknown")] if needed.unknown else None,
        action_id=action.action_id,
        status=action.status,
    )


def in_progress(action: Action) -> Refusal:
    return Refusal(
        Reason.EXECUTION_IN_PROGRESS,
        action_id=action.action_id,
        status=action.status,
        retry_after_seconds=IN_PROGRESS_RETRY_SECONDS,
    )


def unknown_outcome(action: Action) -> Refusal:
    return Refusal(
        Reason.OUTCOME_UNKNOWN,
        words=describe_unknown(action),
        facts={"connector": action.view.via or action.effect.connector},
        action_id=action.action_id,
        status=action.status,
    )


def refuse_expired(action: Action) -> Refusal:
    words = describe_expired(action)
    return Refusal(Reason.ACTION_EXPIRED, words=words, action_id=action.action_id)


def refuse_closed(action: Action, reason: Reason) -> Refusal:
    """Build the refusal for a closed action. An executor answers S1's literal `requires_approval`
    (C13, C33)."""
    return Refusal(
        reason,
        words=describe_closed(action),
        status=action.status,
        external_id=action.external_id,
        action_id=action.action_id,
    )


def refuse_drift(action: Action, changes: tuple[DriftChange, ...], *, approved: bool) -> Refusal:
    """Build the refusal. In `problems`, `expected` is the value at the approval and `got` the present
    one."""
    since = "since it was approved" if approved else "since it was shown"
    done = "sent" if approved else "decided"
    return Refusal(
        Reason.STALE_REVISION,
        words=Words(
            summary=f"Something has changed {since}.",
            user_message=f"Nothing was {done}, because something has changed {since}: {describe_changes(changes)}. "
            "Look at it again, and approve it if it is still right.",
            fix="STOP. Tell the user what changed (problems: expected is the earlier value, got the present one), show "
            "the content and ask again. It waits for a new approval; the content itself is unchanged.",
            stop_rule="Do not approve it again before the human has seen what changed.",
        ),
        problems=[Problem(each.path, each.was, each.now) for each in changes],
        status=action.status,
        action_id=action.action_id,
    )


def describe_freeze(found: Freeze | None, action: Action) -> str:
    """Tell a person why an action does not go out now. Empty if no freeze stops it: what a person does by
    hand and a step of a workflow are no effects of the server."""
    if found is None or action.view.executes == "person" or action.is_step:
        return ""
    return f"Sending is stopped {found.where} since {full_time(found.since_ms)}.{found.reason}"


def refuse_frozen(found: Freeze | None, **about: Unpack[AddedFields]) -> Refusal:
    """Build the refusal. `found` is None if the freeze has just ended."""
    return Refusal(
        Reason.FROZEN,
        facts={
            "where": found.where if found is not None else "in this workspace",
            "since": f" on {full_time(found.since_ms)}" if found is not None else "",
            "why": found.reason if found is not None else "",
        },
        **about,
    )


TRY_AGAIN_SECONDS: Final = 30
"""Retry delay where the provider names none and the server does not try again."""


def refusal_for(action: Action, outcome: NotSent | OutcomeUnknown, now_ms: int) -> Refusal:
    """Build the refusal for an attempt that did not succeed. It says whether the server tries again."""
    connector = action.effect.connector
    if isinstance(outcome, OutcomeUnknown):
        return unknown_outcome(action)
    args = {"provider": connector} if outcome.reason is Reason.MISSING_CONNECTOR else None
    usual = MEANINGS[outcome.reason].retry
    retry = Retry.NEVER if not outcome.curable else Retry.SAME if usual is Retry.NEVER else usual
    planned = read_next_try(action)
    wait_seconds = TRY_AGAIN_SECONDS
    if planned is not None and planned.at_ms is not None:
        wait_seconds = -(-(planned.at_ms - now_ms) // SECOND_MS)
    again = outcome.retry_after_seconds or wait_seconds if retry is Retry.SAME else None
    name, detail, then = _name(action), plain_detail(outcome.detail), describe_next_try(action, now_ms)
    words = None
    if retry is Retry.SAME:
        words = _words_for_retry(name, detail, then)
    elif outcome.refused:
        left = len(action.effect.everyone) - len(outcome.refused)
        ask = f"Send it to the other {left}?" if left > 0 else "Tell me who gets it instead."
        who = ", ".join(outcome.refused)
        words = Words(user_message=f"Nothing was sent: {name} refused {who} ({detail}). {ask}")
    elif outcome.reason is Reason.MISSING_CONNECTOR:
        # The connection may exist and fail for another reason, which the connector names.
        by_status = outcome.detail.startswith("HTTP ")
        said = f"{name} does not accept the connection any more" if by_status else detail
        said = f"{said[:1].upper()}{said[1:]}. {then}".rstrip()
        words = Words(summary="Nothing was sent: the connection needs you.", user_message=said)
    return Refusal(
        outcome.reason,
        facts={"connector": name, "detail": detail or "it gave no reason", "limited": name},
        words=words,
        retry=retry,
        retry_after_seconds=again,
        recovery_args=args,
        status=action.status,
        action_id=action.action_id,
    )


def _name(action: Action) -> str:
    """Return the provider's name for people."""
    return "The mail service" if action.view.mail else action.view.label


def _words_for_retry(name: str, detail: str, then: str) -> Words:
    """Words for an attempt that had no effect and may be repeated. `then`: what the server does next."""
    return Words(
        summary=f"Not sent: {name} could not take this now.",
        user_message=f"Nothing was sent: {name} could not take this now ({detail or 'it gave no reason'}). {then}",
        fix="Show the message and stop: the approval stays, and the server tries again as the message says. "
        "Call the executor again only if the user wants it tried sooner, or if the server has given up; "
        "chieflab_get_action says what became of it.",
        stop_rule="Do not call in a loop, and do not say that it was published or sent.",
    )


def refuse_by_hand(action: Action) -> Refusal:
    """Build the refusal for a manual channel, which a person publishes (E94)."""
    return Refusal(
        Reason.MISSING_CONNECTOR,
        words=describe_by_hand(action),
        retry=Retry.NEVER,
        status=action.status,
        action_id=action.action_id,
    )


def refuse_not_live(action: Action, words: Words | None = None) -> Refusal:
    """Build the refusal for a provider that is not live: nothing was executed (E98)."""
    return Refusal(
        Reason.PROVIDER_NOT_LIVE,
        facts={"connector": action.effect.connector},
        words=words,
        status=action.status,
        action_id=action.action_id,
    )


def refuse_test(action: Action) -> Refusal:
    """Build the refusal for a test, with what would have been sent (E82)."""
    return Refusal(
        Reason.PROVIDER_NOT_LIVE,
        words=Words(
            summary="It is a test: nothing was sent.",
            user_message=f"Nothing was sent. {describe_test(action)} This is what would have gone out.",
            fix="STOP. Show the content. To send it, prepare it again with a clp_live_ key. To try it, let the "
            "settings point its connector at an emulator on this machine.",
        ),
        status=action.status,
        action_id=action.action_id,
    )


def refuse_unready(action: Action, readiness: Readiness) -> Refusal:
    """Build the refusal for a connector that is not ready: connect it, or publish by hand (E94)."""
    if readiness.blocker == Reason.PROVIDER_NOT_LIVE:
        return refuse_not_live(action, Words(summary=readiness.summary, user_message=readiness.fix_hint))
    return Refusal(
        Reason.MISSING_CONNECTOR,
        facts={"connector": action.effect.connector},
        words=Words(summary=readiness.summary, user_message=readiness.fix_hint),
        recovery_args={"provider": action.effect.connector},
        status=action.status,
        action_id=action.action_id,
    )


def refuse_foreign_key() -> Refusal:
    """Build the refusal of an idempotency key that another API key of the workspace has used."""
    return Refusal(
        Reason.IDEMPOTENCY_CONFLICT,
        user_message="Another API key of this workspace made this request already; nothing was done again.",
        fix="The answer belongs to the key that made the request. Look at what it did (chieflab_status, "
        "chieflab_list_pending_actions); for a request of your own use a new idempotencyKey.",
        retry=Retry.NEVER,
    )


# Actions whose effect type is not registered any more, because its extension was removed, or means something else
# than when they were prepared.
#
# They are shown from their stored view. They can be rejected and withdrawn, and nothing else. A type stays the same
# for the life of an action and of a process, so these checks may run before a transaction.

GATE: Final = "type_missing"
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
