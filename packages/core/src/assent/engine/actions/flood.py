"""A flood of proposals by one key is held as one question.

If a caller has proposed more waiting actions within the window than people can be asked about one by
one, what it proposes next is staged as usual, but held: the inbox has one row for all of it, and
people get one notification. A person looks at the list, then rejects it or releases it to the inbox.
Holding decides nothing: a held action can be opened and decided like any other.
"""

from __future__ import annotations

from typing import Final

from assent.engine.actions import actions, decisions
from assent.engine.core import journal
from assent.gate.gate import ANY_CONTENT, Decider
from assent.gate.records import Action
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import FLOOD_WINDOW_MS, MINUTE_MS
from assent.kernel.structs import Record, from_row
from assent.ports import Row, Transaction
from assent.sql.loader import statements

MOST_GROUPS: Final = 20
PAGE: Final = 100
"""How many held actions are listed, or rejected in one transaction."""


class HeldGroup(Record):
    """What is held of one caller in a workspace."""

    workspace_id: WorkspaceId
    workspace_name: str
    proposed_by: str
    held: int
    first_ms: int
    last_ms: int

    @property
    def minutes(self) -> int:
        """In how many minutes it was proposed, at least one."""
        return max(1, -(-(self.last_ms - self.first_ms) // MINUTE_MS))


def judge(
    workspace_id: WorkspaceId, proposed_by: str, most: int, now_ms: int
) -> Transaction[tuple[int | None, bool]]:
    """Return how much of a caller is held already if what it proposes now is held, too, else None; and whether
    anybody may listen to what is staged."""
    rows = yield statements.count_recent_proposals(
        workspace_id=workspace_id,
        proposed_by=proposed_by,
        since_ms=now_ms - FLOOD_WINDOW_MS,
        most=most,
    )
    heard = bool(rows[0]["heard"])
    if rows[0]["waiting"] < most:
        return None, heard
    return (yield from count(workspace_id, proposed_by, now_ms)), heard


def count(workspace_id: WorkspaceId, proposed_by: str, now_ms: int) -> Transaction[int]:
    rows = yield statements.count_held(workspace_id=workspace_id, proposed_by=proposed_by, now_ms=now_ms)
    held: int = rows[0]["held"]
    return held


def list_groups(person_id: str, now_ms: int, *, everywhere: bool) -> Transaction[tuple[HeldGroup, ...]]:
    """List the floods in the workspaces of a person, or `everywhere`."""
    rows = yield statements.list_held_groups(
        everywhere=int(everywhere), person_id=person_id, now_ms=now_ms, most=MOST_GROUPS
    )
    return tuple(_group(row) for row in rows)


def _group(row: Row) -> HeldGroup:
    return from_row(HeldGroup, row, workspace_name=row["workspace_name"] or row["workspace_id"])


def list_held(
    group: HeldGroup, until_ms: int, now_ms: int, after: str = ""
) -> Transaction[tuple[Action, ...]]:
    rows = yield statements.list_held(
        workspace_id=group.workspace_id,
        proposed_by=group.proposed_by,
        until_ms=until_ms,
        now_ms=now_ms,
        after=after,
        most=PAGE,
    )
    return tuple(actions.action_of(row) for row in rows)


def release(decider: Decider, group: HeldGroup, until_ms: int, now_ms: int) -> Transaction[int]:
    """Let what was held until a time appear in the inbox, one by one. Returns how many."""
    rows = yield statements.release_held(
        workspace_id=group.workspace_id, proposed_by=group.proposed_by, until_ms=until_ms
    )
    yield from _note(decider, group, "proposals_released", len(rows), now_ms)
    return len(rows)


def reject_some(
    decider: Decider, group: HeldGroup, reason: str, until_ms: int, now_ms: int
) -> Transaction[int]:
    """Reject a part of what was held until a time. Returns how many; zero at the end."""
    found = yield from list_held(group, until_ms, now_ms)
    for action in found:
        yield from decisions.reject(decider, action.action_id, reason, ANY_CONTENT, now_ms)
    if found:
        yield from _note(decider, group, "proposals_rejected", len(found), now_ms)
    return len(found)


def _note(decider: Decider, group: HeldGroup, kind: str, number: int, now_ms: int) -> Transaction[None]:
    facts = {**decisions.describe_decider(decider), "count": number, "proposedBy": group.proposed_by}
    yield from journal.note(group.workspace_id, kind, facts, now_ms)
