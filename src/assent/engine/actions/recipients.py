"""The number of people a workspace writes to within a day.

Distinct addresses of waiting, approved and sent actions count; those of rejected, failed and
expired actions do not. A mailing that is split into small ones therefore still counts as a large
one.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.gate.mail import reached_addresses
from assent.gate.preflight import MANY_RECIPIENTS, raise_severity
from assent.gate.records import Action, ExecutionState, Status
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import DAY_MS
from assent.ports import Transaction
from assent.sql.loader import statements

WINDOW_MS: Final = DAY_MS
_COUNTED: Final = frozenset({Status.AWAITING_APPROVAL, Status.APPROVED, Status.EXECUTED})


def follow(action: Action, now_ms: int, *, edited: bool = False) -> Transaction[None]:
    """Store the present recipients of an action."""
    workspace_id, counted = action.workspace_id, action.status in _COUNTED
    reached = reached_addresses(action)
    if edited or (reached and not counted):
        yield statements.forget_recipients(workspace_id=workspace_id, action_id=action.action_id)
    if not reached or not counted:
        return
    waits = action.execution_state in (ExecutionState.NONE, ExecutionState.RETRYABLE)
    yield statements.put_recipients(
        workspace_id=workspace_id,
        action_id=action.action_id,
        addresses=msgspec.json.encode(sorted(reached)).decode(),
        at_ms=now_ms,
        expires_ms=action.expires_ms if waits else None,
    )
    yield statements.forget_earlier_recipients(workspace_id=workspace_id, before_ms=now_ms - WINDOW_MS)


def list_recent(workspace_id: WorkspaceId, but: str, now_ms: int) -> Transaction[frozenset[str]]:
    """Return recipients of other actions of the last day, at most as many as decide the
    severity."""
    rows = yield statements.list_recent_recipients(
        workspace_id=workspace_id,
        but=but,
        since_ms=now_ms - WINDOW_MS,
        now_ms=now_ms,
        most=MANY_RECIPIENTS + 1,
    )
    return frozenset(row["address"] for row in rows)


def judge(action: Action, now_ms: int) -> Transaction[Action]:
    """Return the action with its severity by the recipients of the day."""
    if not reached_addresses(action):
        return action
    others = yield from list_recent(action.workspace_id, action.action_id, now_ms)
    return with_people(action, others)


def with_people(action: Action, others: frozenset[str]) -> Action:
    """Return the action with its severity, given the other recipients of the day."""
    if not (reached := reached_addresses(action)):
        return action
    people = len(others | reached)
    return msgspec.structs.replace(action, preflight=raise_severity(action.preflight, people))
