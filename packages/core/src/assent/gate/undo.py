"""Taking back what was done: the reverse of an executed action is another action, with its own approval.

A type says how its effects are taken back (`assent.gate.effects.Reverse`). The reverse has exact arguments, which
follow from the first effect and its receipt, and names the first action in its content; nobody edits it. An action has
at most one reverse that can still happen or has happened. Pure.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.gate.records import OUTCOME_TOLD, UNDONE, Action, Effect, is_erased, is_test
from assent.gate.transitions import EXECUTED, FAILED, REJECTED, state_of
from assent.gate.views import View
from assent.kernel.times import readable_time

UNDOES: Final = "undoes"
"""The key of a reverse's details: what people call the first action."""
RECEIPT: Final = "receipt"
"""The name under which a reverse has the id on the receipt: in its arguments, or in its details."""
UNDO_AS: Final = "undoActionId"
"""Metadata key of an action: its reverse."""
UNDO_OF: Final = "undoOf"
"""Metadata key of a reverse: the action that it takes back."""
UNDO_NAME: Final = "undo:"
"""How the name of a reverse begins, before that of what it takes back."""
FIXED: Final = "what takes back another action, exactly"


def is_reverse(effect: Effect) -> bool:
    return UNDOES in effect.details


def is_take_down(effect: Effect) -> bool:
    """Whether it takes down what a receipt names, which only the account that posted it can do."""
    return is_reverse(effect) and RECEIPT in effect.details


def when_too_late(action: Action) -> int | None:
    """Return when an executed action can no longer be undone; None if it always can."""
    undo = action.view.undo
    if undo is None or undo.within_ms is None or action.executed_ms is None:
        return None
    return action.executed_ms + undo.within_ms


def can_be_undone(action: Action, now_ms: int) -> bool:
    """Whether it certainly happened, by a connector, and there still is a way and the time to take it back."""
    ends_ms = when_too_late(action)
    return (
        state_of(action) == EXECUTED
        and action.view.undo is not None
        # What a person told in place of a receipt is no argument that a provider gave.
        and not {UNDONE, OUTCOME_TOLD} & action.metadata.keys()
        and not (action.is_by_hand or is_erased(action))
        and (ends_ms is None or now_ms < ends_ms)
    )


def is_spent(reverse: Action, now_ms: int, *, test: bool) -> bool:
    """Whether a reverse certainly did not happen and never will, so that another one may be prepared. A test takes
    nothing back, but for another `test`."""
    never = state_of(reverse) in (REJECTED, FAILED) or reverse.is_expired(now_ms)
    return never or (is_test(reverse) and not test)


def _name(action: Action) -> str:
    """Return what people know an action by: what it did, or the headline of what somebody wrote."""
    return action.view.heading if action.effect.arguments else f"{action.view.label} “{action.headline}”"


def name_reverse(effect: Effect, of: Action, leaves: str) -> Effect:
    """Return a reverse that names the action which it takes back, and what stays all the same."""
    named = {"actionId": of.action_id, UNDOES: _name(of), **({"leaves": leaves} if leaves else {})}
    return msgspec.structs.replace(effect, details={**effect.details, **named})


def make_take_down(verb: str, action: Action) -> Effect:
    """Return the effect that takes a message down: the id and address of its receipt, nothing else."""
    first, receipt = action.effect, action.external_id or ""
    where = f" at {action.external_url}" if action.external_url else ""
    return Effect(
        channel=first.channel,
        verb=verb,
        connector=first.connector,
        target=first.target,
        body=f"Take down {_name(action)}{where}. Its id there is {receipt}.",
        details={RECEIPT: receipt},
    )


def describe_reverse(view: View, effect: Effect) -> View:
    """Return the view of a reverse: what it takes back, what it does not, and no fields to edit."""
    leaves = effect.details.get("leaves", "")
    return msgspec.structs.replace(
        view,
        title=f"Undo: {effect.details[UNDOES]}",
        sentence=f"{view.sentence}{f' It does not undo this: {leaves}' if leaves else ''}",
        outcome=f"Undone: {effect.details[UNDOES]}.",
        done="Undone",
        fields=(),
        # The title and the sentence tell these.
        technical=(*view.technical, "actionId", UNDOES, "leaves"),
        fixed=FIXED,
        removes=True,
        again=None,
        schedulable=False,
    )


def offer(action: Action, now_ms: int) -> str:
    """Say until when an executed action can be undone, and what that leaves; empty if it cannot."""
    undo, ends_ms = action.view.undo, when_too_late(action)
    if undo is None or not can_be_undone(action, now_ms):
        return ""
    until = f" until {readable_time(ends_ms, now_ms)}" if ends_ms is not None else ""
    return f"It can be undone{until}.{f' That leaves: {undo.leaves}' if undo.leaves else ''}"


def mark_undone(action: Action, reverse: Action, now_ms: int) -> Action:
    noted: dict[str, Any] = {UNDONE: {"atMs": now_ms, "by": reverse.action_id}}
    return msgspec.structs.replace(action, metadata={**action.metadata, **noted})
