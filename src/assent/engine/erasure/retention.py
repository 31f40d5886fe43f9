"""Erases the content of decided actions that are older than the settings keep them.

Waiting, approved and unsent actions are never erased, however old. Stored answers, sign-ins, sessions of
workflows, deliveries and notifications have retention times of their own (`assent.jobs.kinds`).
"""

from __future__ import annotations

from functools import partial
from typing import Final

from assent.engine.actions import actions
from assent.engine.erasure.contents import BY_AGE, erase_content, is_erased
from assent.gate.transitions import TERMINAL, state_of
from assent.kernel.ids import ActionId, WorkspaceId
from assent.ports import Store, Transaction
from assent.sql.loader import statements

ERASE_JOB: Final = "erase_old_content"
BATCH: Final = 100
"""Actions of one transaction, because other writers wait for it."""
BY: Final = "server"

Position = tuple[str, str]


async def erase_old_content(store: Store, kept_ms: int, now_ms: int) -> int:
    """Erase what was decided or sent before the time that content is kept. Returns how many actions."""
    erased, after = 0, ("", "")
    while True:
        count, position = await store.write(partial(_erase_batch, after, now_ms - kept_ms, now_ms))
        erased += count
        if position is None:
            return erased
        after = position


def _erase_batch(after: Position, before_ms: int, now_ms: int) -> Transaction[tuple[int, Position | None]]:
    """Erase the next actions. Returns how many, and where to go on."""
    rows = yield statements.list_old_actions(
        after_workspace=after[0], after_action=after[1], before_ms=before_ms, most=BATCH
    )
    count = 0
    for row in rows:
        workspace_id, action_id = WorkspaceId(row["workspace_id"]), ActionId(row["action_id"])
        action = yield from actions.lock_known(workspace_id, action_id)
        if action is None or is_erased(action) or state_of(action) not in TERMINAL:
            continue
        yield from erase_content(workspace_id, action_id, BY_AGE, now_ms, by=BY)
        siblings = yield from actions.run_actions(workspace_id, action.run_id)
        if all(map(is_erased, siblings)):
            yield statements.erase_run(workspace_id=workspace_id, run_id=action.run_id)
        count += 1
    last = (rows[-1]["workspace_id"], rows[-1]["action_id"]) if rows else None
    return count, last
