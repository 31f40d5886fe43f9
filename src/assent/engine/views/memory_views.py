"""Memory for people: pages of entries in any state, and decisions about an entry."""

from __future__ import annotations

from assent.engine.core import journal
from assent.engine.learning import memory as brain
from assent.engine.learning.memory import Entry, State
from assent.engine.views.session_views import like
from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.sql.loader import statements


class MemoryPage(Record):
    entries: tuple[Entry, ...]
    older: str | None


def entries(
    workspace_id: WorkspaceId,
    *,
    tenant_id: str,
    kind: str,
    state: str,
    search: str,
    before: str,
    most: int,
) -> Transaction[MemoryPage]:
    """List the entries of a workspace, newest first; empty filters match all. Searches the plain
    text instead of the word index, because a search may have to update that index and a page view
    writes nothing."""
    rows = yield statements.list_brain_page(
        workspace_id=workspace_id,
        tenant_id=tenant_id,
        kind=kind,
        state=state,
        pattern=like(search),
        before=before,
        most=most + 1,
    )
    found = tuple(brain.entry_of(row) for row in rows[:most])
    return MemoryPage(found, found[-1].entry_id if len(rows) > most else None)


def decide(workspace_id: WorkspaceId, entry_id: str, state: State, by: str, now_ms: int) -> Transaction[bool]:
    """Returns False if the workspace has no such entry."""
    entry = yield from brain.find(workspace_id, entry_id)
    if entry is None:
        return False
    if entry.state == state:
        return True
    if brain.is_outdated(entry):
        return False
    yield from brain.set_state(workspace_id, entry.tenant_id, entry_id, state)
    facts = {"entryId": entry_id, "kind": entry.kind, "state": state, "before": entry.state, "by": by}
    yield from journal.note(workspace_id, "memory_decided", facts, now_ms)
    return True
