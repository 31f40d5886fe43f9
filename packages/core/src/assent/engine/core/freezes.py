"""A freeze stops every executor of the server, of a workspace, or for one of its agents: what it proposed and what it
asks to execute. A person ends it.

It is a row. `assent.engine.actions.actions` stores an action that is about to be sent only where there is no such
row, in the statement that claims it: every path to a connector and every call that is handed out to an agent goes
through that statement, in each process. Reading, staging, deciding, measuring and reading back go on.

When a freeze is in effect: when its row is committed and `await_claims` has returned. On SQLite there is one writer, so
every claim after the commit sees the row, and nothing is waited for. On PostgreSQL a claim takes a lock, shared with
other claims, before anything else (`begin_claim`); `await_claims` takes it exclusively, after the commit. A claim that
had the lock before has ended then. A claim that gets it later reads the row: transactions that write are READ
COMMITTED, so the statement that claims takes its snapshot after the lock was granted. Under REPEATABLE READ the
statement that locks would take it, before it waits, and this would not hold.

The row is written first, without the lock. A process that hangs in a claim then delays the words "in effect", not the
freeze. There is no deadlock: a claim that waits for the lock holds nothing, `await_claims` locks nothing else, and both
lock the server before the workspace.
"""

from __future__ import annotations

from typing import Final, NoReturn

import msgspec

from assent.engine.core import journal
from assent.gate.records import Action, Freeze, find_stop
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import SECOND_MS
from assent.kernel.structs import from_row
from assent.kernel.times import iso_time
from assent.ports import Row, Rows, Transaction
from assent.present.refusals import refuse_frozen
from assent.sql.loader import statements

FROZEN: Final = "sending_frozen"
"""The event of a freeze."""
LOOK_AGAIN_MS: Final = 20 * SECOND_MS
"""How long a job that would send waits before it looks whether the freeze has ended."""


def freeze(
    workspace_id: WorkspaceId,
    now_ms: int,
    *,
    by: str,
    why: str,
    agent: str = "",
    label: str = "",
    person_id: str = "",
) -> Transaction[bool]:
    """Stop sending in a workspace; `SYSTEM_WORKSPACE` for every one; for one `agent` (`Principal.agent`), called
    `label`, alone. Returns False if it was stopped."""
    stored = yield statements.freeze(
        workspace_id=workspace_id, agent=agent, label=label, since_ms=now_ms, set_by=by, why=why
    )
    if not stored:
        return False
    who = {"personId": person_id} if person_id else {}
    facts = {"by": by, "why": why, **who, **_name(agent, label)}
    yield from journal.note(workspace_id, FROZEN, facts, now_ms)
    return True


def was_set_by(held: Freeze, person_id: str) -> Transaction[bool]:
    """Whether a person set this freeze, by its event: a name can be another's tomorrow, and that of a command."""
    workspace_id = held.workspace_id
    rows = yield statements.list_events_of_kind(
        workspace_id=workspace_id, stream_id=workspace_id, kind=FROZEN
    )
    noted = [msgspec.json.decode(row["body"]) for row in rows]
    of_it = [each for each in noted if each.get("agentId", "") == held.agent]
    return bool(of_it) and of_it[-1].get("personId") == person_id


def unfreeze(
    workspace_id: WorkspaceId, now_ms: int, *, by: str, agent: str = "", label: str = ""
) -> Transaction[int | None]:
    """Let sending go on. Returns since when it was stopped, or None if it was not."""
    ended = yield statements.unfreeze(workspace_id=workspace_id, agent=agent)
    if not ended:
        return None
    since_ms: int = ended[0]["since_ms"]
    facts = {"by": by, "since": iso_time(since_ms), **_name(agent, label)}
    yield from journal.note(workspace_id, "sending_resumed", facts, now_ms)
    return since_ms


def _name(agent: str, label: str) -> dict[str, str]:
    return {"agentId": agent, "of": f" of {label or agent}"} if agent else {}


def find(workspace_id: WorkspaceId, agent: str = "") -> Transaction[Freeze | None]:
    """Return what stops a workspace, or what `agent` does there: the freeze of the server, else the workspace's own,
    else the agent's."""
    found = yield from list_in(workspace_id)
    return next((each for each in found if each.agent in ("", agent)), None)


def list_in(workspace_id: WorkspaceId) -> Transaction[tuple[Freeze, ...]]:
    """List what stops something in a workspace, widest first."""
    return tuple(_read((yield statements.find_freezes(workspace_id=workspace_id))))


def read_joined(row: Row) -> Freeze:
    """Return the freeze in a row about something else."""
    return from_row(
        Freeze,
        row,
        workspace_id=row["frozen_in"],
        agent=row["frozen_agent"],
        label=row["frozen_label"],
        by=row["set_by"],
    )


def list_all() -> Transaction[list[Freeze]]:
    return _read((yield statements.list_freezes()))


def refuse(action: Action, agent: str) -> Transaction[NoReturn]:
    """Refuse to send an action for an agent. Raises `Refusal`."""
    known = yield from list_in(action.workspace_id)
    found = find_stop(known, action) or next((each for each in known if each.agent == agent), None)
    raise refuse_frozen(found, action_id=action.action_id, status=action.status)


def begin_claim(workspace_id: WorkspaceId) -> Transaction[None]:
    """Make a freeze wait for this transaction. The first statement of each transaction that claims."""
    yield statements.share_claiming(workspace_id=workspace_id)


def await_claims(workspace_id: WorkspaceId) -> Transaction[None]:
    """Wait for every claim that began before. Raises `StoreUnavailable` for one that does not end."""
    yield statements.await_claims(workspace_id=workspace_id)


def count_executing(workspace_id: WorkspaceId, now_ms: int) -> Transaction[int]:
    """Count the actions that were claimed before and may be in flight."""
    everywhere = int(workspace_id == SYSTEM_WORKSPACE)
    rows = yield statements.count_executing(everywhere=everywhere, workspace_id=workspace_id, now_ms=now_ms)
    return int(rows[0]["executing"])


def _read(rows: Rows) -> list[Freeze]:
    return [from_row(Freeze, row, by=row["set_by"]) for row in rows]
