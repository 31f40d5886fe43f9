"""Hold what may have been sent after the backup, so that a restore sends nothing again.

One transaction per restore, before any executor runs on the restored store. Each open action moves by
the transition table and gets its event:

- claimed (`executing`): its process is gone or wrote to the replaced store: `lose`;
- approved and not sent: if the provider recognises a repetition, the approval holds with a doubt
  (`assent.engine.actions.doubts`); otherwise `restore`, an unknown outcome that the job
  `reconcile_action` looks up where the provider can be asked, and else a person answers;
- waiting for approval: a doubt, because it may have been approved and sent, too.

Confirmations of workflows are left alone: nothing is sent for them. What was unknown stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from assent.engine.actions import actions, doubts
from assent.engine.actions.recording import RECONCILE_JOB, settle, suspend
from assent.engine.core import jobs, journal
from assent.engine.recovery import positions
from assent.engine.recovery.positions import Restore
from assent.gate.audit import RestoreReport
from assent.gate.records import WORKFLOW, Action
from assent.gate.transitions import APPROVED, AWAITING, EXECUTING, RETRYABLE, Move, state_of
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.times import iso_time
from assent.ports import Connector, OutcomeUnknown, Transaction
from assent.sql.loader import statements


def hold(
    restore: Restore, connectors: Mapping[str, Connector], new_id: Callable[[], str], now_ms: int
) -> Transaction[RestoreReport]:
    """Record a restore, hold the open actions and remove the mark of the backup."""
    head = yield from journal.lock_head(SYSTEM_WORKSPACE, positions.RESTORES, now_ms)
    epoch = max(now_ms, restore.epoch + 1, (yield from positions.find_epoch()) + 1)
    why = doubts.explain(restore.since_ms)
    rows = yield statements.last_checkpoint(workspace_id=SYSTEM_WORKSPACE)
    last = rows[0]["number"] if rows else 0
    counts = dict.fromkeys(("unknown", "repeatable", "waiting"), 0)
    for row in (yield statements.list_open_actions()):
        # Locked anew: a process that has held them already may serve.
        action = yield from actions.lock_known(row["workspace_id"], row["action_id"])
        if action is None:
            continue
        kind = yield from _hold_action(action, connectors, restore.since_ms, why, new_id, now_ms)
        if kind is not None:
            counts[kind] += 1
    report = RestoreReport(
        epoch=epoch, at_ms=now_ms, since_ms=restore.since_ms, found=restore.found, checkpoint=last, **counts
    )
    yield from journal.append_to(head, [journal.NewEvent(positions.RESTORED, report)], now_ms)
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
    if action.effect.connector == WORKFLOW or (action.is_expired(now_ms) and state == AWAITING):
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


def count_restored() -> Transaction[int]:
    """Count the unknown outcomes that a restore left and no one has answered yet."""
    rows = yield statements.count_restored_unknown()
    return int(rows[0]["found"])
