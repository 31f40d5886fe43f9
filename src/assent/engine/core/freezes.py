"""A freeze stops every executor of a workspace or of the server, until a person ends it.

It is a row. `assent.engine.actions.actions` stores an action that is about to be sent only where there is no such
row, in the statement that claims it: every path to a connector and every call that is handed out to an agent goes
through that statement, in each process. Reading, staging, deciding, measuring and reading back go on.

When a freeze is in effect. On SQLite there is one writer, so every claim after the commit of the freeze sees it. On
PostgreSQL a claim whose statement began before that commit may still commit after it. Its transaction has an id by
then, because it locked the action first. `read_open_writes` therefore lists the open transactions after the commit,
and the freeze is in effect when these have ended (`count_open_writes`). A claim costs nothing more for this.
"""

from __future__ import annotations

from typing import Final, NoReturn

from assent.engine.core import journal
from assent.gate.records import Action
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import SECOND_MS
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import Record, from_row
from assent.kernel.times import iso_time
from assent.ports import Rows, Transaction
from assent.sql.loader import statements

LOOK_AGAIN_MS: Final = 20 * SECOND_MS
"""How long a job that would send waits before it looks whether the freeze has ended."""


class Freeze(Record):
    """Where nothing is sent, since when, and who stopped it."""

    workspace_id: WorkspaceId
    since_ms: int
    by: str
    why: str

    @property
    def everywhere(self) -> bool:
        return self.workspace_id == SYSTEM_WORKSPACE


def freeze(workspace_id: WorkspaceId, now_ms: int, *, by: str, why: str) -> Transaction[bool]:
    """Stop sending in a workspace; `SYSTEM_WORKSPACE` for every one. Returns False if it was stopped."""
    if not (yield statements.freeze(workspace_id=workspace_id, since_ms=now_ms, set_by=by, why=why)):
        return False
    yield from journal.note(workspace_id, "sending_frozen", {"by": by, "why": why}, now_ms)
    return True


def unfreeze(workspace_id: WorkspaceId, now_ms: int, *, by: str) -> Transaction[int | None]:
    """Let sending go on. Returns since when it was stopped, or None if it was not."""
    ended = yield statements.unfreeze(workspace_id=workspace_id)
    if not ended:
        return None
    since_ms: int = ended[0]["since_ms"]
    yield from journal.note(workspace_id, "sending_resumed", {"by": by, "since": iso_time(since_ms)}, now_ms)
    return since_ms


def find(workspace_id: WorkspaceId) -> Transaction[Freeze | None]:
    """Return what stops a workspace: the freeze of the server, else its own."""
    rows = yield statements.find_freezes(workspace_id=workspace_id)
    return _read(rows)[0] if rows else None


def list_all() -> Transaction[list[Freeze]]:
    return _read((yield statements.list_freezes()))


def refuse(action: Action) -> Transaction[NoReturn]:
    """Refuse to send an action. Raises `Refusal`."""
    raise explain(action, (yield from find(action.workspace_id)))


def explain(action: Action, found: Freeze | None) -> Refusal:
    """Build the refusal. `found` is None if the freeze has just ended."""
    since = f" since {iso_time(found.since_ms)}" if found is not None else ""
    why = f" Reason: {found.why}" if found is not None and found.why else ""
    return Refusal(
        Reason.FROZEN,
        facts={
            "where": "on this server" if found is not None and found.everywhere else "in this workspace",
            "since": since,
            "why": why,
        },
        action_id=action.action_id,
        status=action.status,
    )


def read_open_writes() -> Transaction[str | None]:
    """Return the transactions that a freeze just committed must wait for; None if there are none."""
    rows = yield statements.read_open_writes()
    return rows[0]["snapshot"] if rows else None


def count_open_writes(snapshot: str) -> Transaction[int]:
    rows = yield statements.count_open_writes(snapshot=snapshot)
    return int(rows[0]["open"]) if rows else 0


def count_executing(workspace_id: WorkspaceId) -> Transaction[int]:
    """Count the actions that were claimed before and have no outcome yet."""
    everywhere = int(workspace_id == SYSTEM_WORKSPACE)
    rows = yield statements.count_executing(everywhere=everywhere, workspace_id=workspace_id)
    return int(rows[0]["executing"])


def _read(rows: Rows) -> list[Freeze]:
    return [from_row(Freeze, row, by=row["set_by"]) for row in rows]
