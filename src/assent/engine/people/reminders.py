"""Reminders of actions that wait: after the time that a target chose, and again before expiry.

A repeating job looks for what is due and enqueues one note per target, in the transaction that
remembers the reminder. Nothing is enqueued when an action is staged, so an edited expiry, a new
target and a changed choice count at once.
"""

from __future__ import annotations

from typing import Final

from assent.engine.people import notifications
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import DAY_MS, MINUTE_MS
from assent.ports import Transaction
from assent.sql.loader import statements

EVERY_MS: Final = 5 * MINUTE_MS

LEAD_MS: Final = DAY_MS
"""How long before expiry the last reminder comes; at most a quarter of the action's life."""


def enqueue_due(now_ms: int, most: int) -> Transaction[int]:
    """Enqueue the due reminders, one per target. Returns the number of actions found."""
    rows = yield statements.list_due_reminders(now_ms=now_ms, lead_ms=LEAD_MS, most=most)
    about: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in rows:
        named = about.setdefault((row["home"], row["target_id"]), [])
        if (action := (row["workspace_id"], row["action_id"])) not in named:
            named.append(action)
        yield statements.note_reminder(
            workspace_id=row["workspace_id"],
            target_id=row["target_id"],
            action_id=row["action_id"],
            kind=row["kind"],
            now_ms=now_ms,
        )
    for (home, target_id), named in about.items():
        yield from notifications.enqueue_reminder(WorkspaceId(home), target_id, named, now_ms)
    return len(rows)


def forget_old(now_ms: int, most: int) -> Transaction[int]:
    """Delete the reminders of actions that wait no longer. Returns the number deleted."""
    return len((yield statements.delete_old_reminders(most=most)))
