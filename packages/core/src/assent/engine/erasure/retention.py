"""Erases the content of decided actions that are older than the settings keep them.

Waiting, approved and unsent actions are never erased, however old. Stored answers, sign-ins, sessions of
workflows, deliveries and notifications have retention times of their own (`assent.jobs.kinds`).
"""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from assent.engine.actions import actions
from assent.engine.audit.actions import PREFIX
from assent.engine.core.journal import Sign
from assent.engine.erasure.contents import BY_AGE, erase_content
from assent.gate.records import Action, is_erased
from assent.gate.transitions import TERMINAL, state_of
from assent.kernel.ids import SYSTEM_WORKSPACE, ActionId, WorkspaceId
from assent.kernel.limits import DAY_MS
from assent.ports import Store, Transaction
from assent.sql.loader import statements

ERASE_JOB: Final = "erase_old_content"
BATCH: Final = 100
"""Actions of one transaction, because other writers wait for it."""
BY: Final = "server"
FACT: Final = "content kept until"
"""The fact with the time that the last run counted from."""
MOST_AHEAD_MS: Final = 7 * DAY_MS
"""How far that time moves in one run."""

Position = tuple[str, str]


async def erase_old_content(store: Store, sign: Sign, kept_ms: int, now_ms: int) -> int:
    """Erase what was decided or sent before the time that content is kept. Returns how many actions."""
    before_ms = await store.write(partial(_trust_clock, now_ms)) - kept_ms
    erased, after = 0, ("", "")
    while True:
        count, position = await store.write(partial(_erase_batch, after, before_ms, now_ms, sign))
        erased += count
        if position is None:
            return erased
        after = position


def _trust_clock(now_ms: int) -> Transaction[int]:
    """Return the time to count from: now, or a week after that of the last run. So a clock that is a year
    ahead for a moment erases no year. The first run erases nothing: it has no time to compare with."""
    rows = yield statements.find_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=FACT)
    trusted_ms = min(now_ms, int(rows[0]["value"]) + MOST_AHEAD_MS) if rows else now_ms
    yield statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=FACT, value=str(trusted_ms))
    return trusted_ms if rows else 0


def _erase_batch(
    after: Position, before_ms: int, now_ms: int, sign: Sign
) -> Transaction[tuple[int, Position | None]]:
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
        if (yield from _has_moved(action, before_ms)):
            continue
        yield from erase_content(workspace_id, action_id, BY_AGE, now_ms, by=BY, sign=sign)
        siblings = yield from actions.run_actions(workspace_id, action.run_id)
        if all(map(is_erased, siblings)):
            yield statements.erase_run(workspace_id=workspace_id, run_id=action.run_id)
        count += 1
    last = (rows[-1]["workspace_id"], rows[-1]["action_id"]) if rows else None
    return count, last


def _has_moved(action: Action, since_ms: int) -> Transaction[bool]:
    """Whether the journal has a decision or an outcome of the action since then."""
    rows = yield statements.list_stream_since(
        workspace_id=action.workspace_id, stream_id=action.run_id, since_ms=since_ms
    )
    moves = [msgspec.json.decode(row["body"]) for row in rows if row["kind"].startswith(PREFIX)]
    return any(body.get("actionId") == action.action_id for body in moves)
