"""Hold what may have been sent after the backup, so that a restore sends nothing again.

One transaction per restore, before any executor runs on the restored store. Each open action moves by
the transition table and gets its event:

- claimed (`executing`): its process is gone or wrote to the replaced store: `lose`;
- approved and not sent: if the provider recognises a repetition, the approval holds with a doubt
  (`assent.engine.recovery.doubts`); otherwise `restore`, an unknown outcome that the job
  `reconcile_action` looks up where the provider can be asked, and else a person answers;
- waiting for approval: a doubt, because it may have been approved and sent, too.

Confirmations of workflows are left alone: nothing is sent for them. What was unknown stays unknown.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from assent.engine.actions import actions, hooks
from assent.engine.actions.hooks import Settled
from assent.engine.actions.recording import RECONCILE_JOB, settle
from assent.engine.core import jobs, journal
from assent.engine.recovery import doubts, positions
from assent.engine.recovery.positions import Restore
from assent.gate.preflight import is_expired
from assent.gate.records import WORKFLOW, Action, Attempt
from assent.gate.transitions import APPROVED, AWAITING, EXECUTING, RETRYABLE, Move, path, state_of
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.structs import WireRecord
from assent.kernel.times import iso_time
from assent.ports import Connector, OutcomeUnknown, Transaction
from assent.sql.loader import statements

STREAM: Final = "restores"
EVENT: Final = "store_restored"
TOOL: Final = "restore"


class RestoreReport(WireRecord, kw_only=True):
    """A recorded restore."""

    epoch: int
    at_ms: int
    since_ms: int
    found: str
    unknown: int = 0
    """Actions that became unknown outcomes."""
    repeatable: int = 0
    """Approved actions that the provider would recognise."""
    waiting: int = 0
    """Actions that wait for approval and may have been sent."""
    checkpoint: int = 0
    """The last checkpoint of the restored store. Later ones were signed before the restore."""

    def __post_init__(self) -> None:
        self.describe()  # raises if a time is none

    def describe(self) -> str:
        """Return what happened, in two sentences."""
        return (
            f"The database was put back on {iso_time(self.at_ms)} to {name_state(self.since_ms)} ({self.found}). Of "
            f"what may have been sent after that, {self.unknown} approved actions have an unknown outcome, "
            f"{self.repeatable} are sent only with a key that their provider recognises, and {self.waiting} wait for "
            "approval and are checked before they are sent."
        )


def name_state(since_ms: int) -> str:
    """Name the state to which a store was put back; 0 if it is not known when it was copied."""
    return f"its state of {iso_time(since_ms)}" if since_ms else "an earlier state"


def hold(
    restore: Restore, connectors: Mapping[str, Connector], new_id: Callable[[], str], now_ms: int
) -> Transaction[RestoreReport]:
    """Record a restore, hold the open actions and remove the mark of the backup."""
    head = yield from journal.lock_head(SYSTEM_WORKSPACE, STREAM, now_ms)
    epoch = max(now_ms, restore.epoch + 1, (yield from positions.find_epoch()) + 1)
    why = _explain(restore.since_ms)
    rows = yield statements.last_checkpoint(workspace_id=SYSTEM_WORKSPACE)
    last = rows[0]["number"] if rows else 0
    counts = dict.fromkeys(("unknown", "repeatable", "waiting"), 0)
    for row in (yield statements.list_open_actions()):
        action = actions.action_of(row)
        kind = yield from _hold_action(action, connectors, restore.since_ms, why, new_id, now_ms)
        if kind is not None:
            counts[kind] += 1
    report = RestoreReport(
        epoch=epoch, at_ms=now_ms, since_ms=restore.since_ms, found=restore.found, checkpoint=last, **counts
    )
    yield from journal.append_to(head, [journal.NewEvent(EVENT, report)], now_ms)
    yield from positions.set_epoch(epoch)
    yield from positions.set_mark(None)
    return report


def _hold_action(
    action: Action,
    connectors: Mapping[str, Connector],
    since_ms: int,
    why: str,
    new_id: Callable[[], str],
    now_ms: int,
) -> Transaction[str | None]:
    """Hold one open action and return how it is counted; None if nothing is to be done."""
    state = state_of(action)
    if action.effect.connector == WORKFLOW or (is_expired(action, now_ms) and state == AWAITING):
        return None
    connector = connectors.get(action.effect.connector)
    if state == EXECUTING and action.attempt is not None:
        lost = msgspec.structs.replace(action.attempt, lost_by_restore=True)
        yield from settle(
            msgspec.structs.replace(action, attempt=lost), OutcomeUnknown(why), Move.LOSE, now_ms
        )
        yield from jobs.hasten(action.workspace_id, RECONCILE_JOB, lost.attempt_id, now_ms)
        return "unknown"
    if state == AWAITING or (
        state in (APPROVED, RETRYABLE) and _is_recognised(action, connector, since_ms, now_ms)
    ):
        doubted = doubts.add_doubt(action, since_ms)
        yield from actions.put_without_event(doubted)
        yield from actions.note(action, "restore_doubt", {"since": iso_time(since_ms)}, now_ms)
        return "waiting" if state == AWAITING else "repeatable"
    if state in (APPROVED, RETRYABLE):
        yield from suspend(action, since_ms, why, new_id(), now_ms)
        return "unknown"
    return None


def _is_recognised(action: Action, connector: Connector | None, since_ms: int, now_ms: int) -> bool:
    return doubts.may_claim(connector, doubts.add_doubt(action, since_ms), now_ms)


def suspend(action: Action, since_ms: int, why: str, attempt_id: str, now_ms: int) -> Transaction[Action]:
    """Make the outcome of a locked, approved action unknown, and ask the provider where it can be
    asked."""
    fence = action.attempt.fence + 1 if action.attempt is not None else 1
    attempt = Attempt(
        attempt_id=attempt_id,
        fence=fence,
        started_ms=since_ms,
        lease_until_ms=now_ms,
        tool=TOOL,
        restored=True,
        lost_by_restore=True,
    )
    metadata: dict[str, Any] = {**doubts.drop_doubt(action.metadata), "lastAttempt": why}
    changed = msgspec.structs.replace(action, attempt=attempt, metadata=metadata)
    facts = {"attemptId": attempt_id, "outcome": "unknown", "detail": why, "since": iso_time(since_ms)}
    changed = yield from actions.put(changed, path(action, Move.RESTORE), facts, now_ms)
    yield from jobs.enqueue(
        action.workspace_id,
        RECONCILE_JOB,
        attempt_id,
        {"actionId": action.action_id, "attemptId": attempt_id},
        due_ms=now_ms,
        now_ms=now_ms,
    )
    yield from hooks.settled(Settled(action=changed, move=Move.RESTORE, facts=facts, at_ms=now_ms))
    return changed


def suspend_doubted(action: Action, attempt_id: str, now_ms: int) -> Transaction[Action]:
    """As `suspend`, for an action whose doubt stopped an executor."""
    held, *_ = yield from actions.lock(action.workspace_id, action.action_id)
    doubt = doubts.find_doubt(held)
    if doubt is None or state_of(held) not in (APPROVED, RETRYABLE):
        return held  # another caller was faster
    return (yield from suspend(held, doubt.since_ms, _explain(doubt.since_ms), attempt_id, now_ms))


def _explain(since_ms: int) -> str:
    return f"the database was put back to {name_state(since_ms)}, and it may have been sent after that"


def list_restores() -> Transaction[list[RestoreReport]]:
    """Return the recorded restores, oldest first."""
    reports = []
    for event in (yield from journal.read_stream(SYSTEM_WORKSPACE, STREAM)):
        # One that was changed counts for nothing; verification names it.
        with contextlib.suppress(ValueError, OverflowError, RecursionError):
            if event.kind == EVENT:
                reports.append(msgspec.json.decode(event.body, type=RestoreReport))
    return reports


def count_restored() -> Transaction[int]:
    """Count the unknown outcomes that a restore left and no one has answered yet."""
    rows = yield statements.count_restored_unknown()
    return int(rows[0]["found"])
