"""Refusals for approved actions that were not delivered. No transactions here."""

from __future__ import annotations

from typing import Final

import msgspec

from assent.gate.effects import EffectTypes
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Status
from assent.gate.views import Unfit
from assent.kernel.refusals import MEANINGS, Reason, Refusal, Retry, Words
from assent.ports import NotSent, OutcomeUnknown
from assent.present import guidance, refusals
from assent.present.next_steps import PLAIN
from assent.present.refusals import describe_by_hand, describe_changed_type, describe_missing_type
from assent.present.status_report import plain_detail

TRY_AGAIN_SECONDS: Final = 30
"""Retry delay where the provider names none."""


def refusal_for(action: Action, outcome: NotSent | OutcomeUnknown) -> Refusal:
    """Build the refusal for an attempt that did not succeed."""
    connector = action.effect.connector
    if isinstance(outcome, OutcomeUnknown):
        return refusals.unknown_outcome(action, None)
    args = {"provider": connector} if outcome.reason is Reason.MISSING_CONNECTOR else None
    usual = MEANINGS[outcome.reason].retry
    retry = Retry.NEVER if not outcome.curable else Retry.SAME if usual is Retry.NEVER else usual
    again = outcome.retry_after_seconds or TRY_AGAIN_SECONDS if retry is Retry.SAME else None
    name, detail = _name(action), plain_detail(outcome.detail)
    words = None
    if outcome.reason is Reason.CONNECTOR_FAILED and outcome.curable:
        words = _words_for_retry(name, detail, again)
    elif outcome.reason is Reason.MISSING_CONNECTOR:
        # The connection may exist and fail for another reason, which the connector names.
        by_status = outcome.detail.startswith("HTTP ")
        said = f"{name} does not accept the connection any more" if by_status else detail
        said = f"{said[:1].upper()}{said[1:]}."
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


def _words_for_retry(name: str, detail: str, again: int | None) -> Words:
    """Words for an attempt that had no effect and may be repeated."""
    return Words(
        summary=f"{name} could not be reached.",
        user_message=f"Nothing was sent: {name} could not take this now ({detail or 'it gave no reason'}). I will try "
        f"again in {again} seconds.",
        fix="Wait retryAfterSeconds, then repeat the call once, with the same idempotencyKey if it had one. If it "
        "fails again, stop and show the message; the approval stays.",
        stop_rule="Do not call in a loop, and do not say that it was published or sent.",
    )


def refuse_by_hand(action: Action) -> Refusal:
    """Build the refusal for a manual channel, which a person publishes (E94)."""
    return Refusal(
        Reason.MISSING_CONNECTOR,
        words=describe_by_hand(action),
        render_in_chat=msgspec.to_builtins(guidance.view_alone(action, PLAIN)),
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


# Actions whose effect type is not registered any more, because its extension was removed, or means something else
# than when they were prepared.
#
# They are shown from their stored view. They can be rejected and withdrawn, and nothing else. A type stays the same
# for the life of an action and of a process, so these checks may run before a transaction.

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
