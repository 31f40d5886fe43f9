"""The present state of the actions in a replayed answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assent.gate.preflight import is_expired
from assent.gate.records import WORKFLOW, Action
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


def describe_present(shown: Iterable[Action], now_ms: int) -> str:
    """Describe the present state of these actions in one sentence."""
    said = [_describe(action, now_ms) for action in shown]
    return f"{NOTHING_AGAIN} Now: {', '.join(said)}." if said else NOTHING_AGAIN


def _describe(action: Action, now_ms: int) -> str:
    state = state_of(action)
    if is_expired(action, now_ms) and state in (AWAITING, APPROVED, RETRYABLE):
        return f"{action.effect.channel} has expired"
    if action.effect.connector == WORKFLOW:
        return f"the step {_NOW_OF_A_STEP[state]}"
    return f"{action.effect.channel} {_NOW[state]}"
