"""Memory for people: pages of entries in any state, how often drafts used them, and what a person
adds, changes or decides.
"""

from __future__ import annotations

from typing import Final

from assent.platform import count_drafts, note_event
from assent.sdk import Record, Row, Transaction, WorkspaceId, digest, like_pattern
from assent_launch.component import statements
from assent_launch.learning import memory as brain
from assent_launch.learning.memory import Entry, Kind, NewEntry, State

USES_COUNTED: Final = 200
"""The latest drafts of a memory that are counted."""

GROUPS: Final[dict[str, tuple[Kind, ...]]] = {
    "rules": ("brand_voice", "voice_sample", "repo_fact", "proof", "claim_risk"),
    "lessons": ("lesson",),
    "decisions": ("approval", "rejection", "edit"),
}
"""What the memory page shows apart: rules hold at once, lessons were learned, decisions were made. Measured numbers are
on the page of the results."""
WRITTEN: Final[tuple[Kind, ...]] = ("brand_voice", "repo_fact", "proof", "claim_risk", "lesson")
"""Kinds that a person writes by hand."""
REPLACES: Final = "replaces"
"""A fact of an entry: the id of the one that it replaced."""


class MemoryFilter(Record, kw_only=True):
    """Empty parts match all."""

    kinds: tuple[Kind, ...]
    tenant_id: str = ""
    state: str = ""
    search: str = ""
    before: str = ""


class Uses(Record):
    """The drafts that a memory changed, by what became of their actions."""

    drafts: int = 0
    unchanged: int = 0
    changed: int = 0
    rejected: int = 0


class MemoryPage(Record):
    entries: tuple[Entry, ...]
    older: str | None
    uses: dict[str, Uses]


def entries(workspace_id: WorkspaceId, wanted: MemoryFilter, most: int) -> Transaction[MemoryPage]:
    """List the entries of some kinds, newest first. Searches the plain text instead of the word index,
    because a search may have to update that index and a page view writes nothing."""
    rows: list[Row] = []
    for kind in wanted.kinds:
        rows += yield statements.list_memory_page(
            workspace_id=workspace_id,
            kind=kind,
            tenant_id=wanted.tenant_id,
            state=wanted.state,
            pattern=like_pattern(wanted.search),
            before=wanted.before,
            most=most + 1,
        )
    rows.sort(key=lambda row: str(row["entry_id"]), reverse=True)
    found = tuple(brain.entry_of(row) for row in rows[:most])
    uses = {}
    for entry in found:
        if entry.kind not in GROUPS["decisions"]:
            uses[entry.entry_id] = yield from _count_uses(workspace_id, entry.entry_id)
    return MemoryPage(found, found[-1].entry_id if len(rows) > most else None, uses)


def _count_uses(workspace_id: WorkspaceId, entry_id: str) -> Transaction[Uses]:
    used = yield statements.list_memory_uses(workspace_id=workspace_id, entry_id=entry_id, most=USES_COUNTED)
    if not used:
        return Uses()
    found = yield from count_drafts(workspace_id, ((row["run_id"], row["asset_id"]) for row in used))

    def count(*statuses: str, changed: int | None = None) -> int:
        fits = (each for each in found if each.status in statuses and changed in (None, each.changed))
        return sum(each.drafts for each in fits)

    return Uses(
        drafts=sum(each.drafts for each in found),
        unchanged=count("approved", "executed", changed=0),
        changed=count("approved", "executed", changed=1),
        rejected=count("rejected"),
    )


def write(
    workspace_id: WorkspaceId, tenant_id: str, kind: Kind, body: str, by: str, now_ms: int
) -> Transaction[str | None]:
    """Store what a person wrote. Returns None if the same words are stored."""
    entry = NewEntry(
        tenant_id=tenant_id,
        kind=kind,
        body=body,
        source=f"written by {by}",
        natural_key=f"{kind}:{digest([tenant_id, kind, body])}",
    )
    return (yield from _store(workspace_id, entry, "", by, now_ms))


def rewrite(
    workspace_id: WorkspaceId, entry: Entry, body: str, by: str, now_ms: int
) -> Transaction[str | None]:
    """Replace the words of an entry: the new ones are an entry of their own, and the old one is
    retired. Returns None if the same words are stored."""
    changed = NewEntry(
        tenant_id=entry.tenant_id,
        kind=next(kind for kind in WRITTEN if kind == entry.kind),
        body=body,
        source=f"rewritten by {by}",
        natural_key=f"{entry.kind}:{digest([entry.tenant_id, entry.kind, body])}",
        channel=entry.channel,
        run_id=entry.run_id,
        action_id=entry.action_id,
        facts={**entry.facts, REPLACES: entry.entry_id},
    )
    made = yield from _store(workspace_id, changed, entry.entry_id, by, now_ms)
    if made is not None:
        yield from brain.set_state(workspace_id, entry.tenant_id, entry.entry_id, "retired")
    return made


def _store(
    workspace_id: WorkspaceId, entry: NewEntry, replaced: str, by: str, now_ms: int
) -> Transaction[str | None]:
    made = yield from brain.remember(workspace_id, entry, now_ms)
    if made is not None:
        facts = {"entryId": made, "kind": entry.kind, "state": entry.state, "by": by, REPLACES: replaced}
        yield from note_event(workspace_id, "memory_written", facts, now_ms)
    return made


def decide(workspace_id: WorkspaceId, entry_id: str, state: State, by: str, now_ms: int) -> Transaction[bool]:
    """Returns False if the workspace has no such entry."""
    entry = yield from brain.find(workspace_id, entry_id)
    if entry is None:
        return False
    if entry.state == state:
        return True
    yield from brain.set_state(workspace_id, entry.tenant_id, entry_id, state)
    facts = {"entryId": entry_id, "kind": entry.kind, "state": state, "before": entry.state, "by": by}
    yield from note_event(workspace_id, "memory_decided", facts, now_ms)
    return True


def delete(workspace_id: WorkspaceId, entry_id: str, by: str, now_ms: int) -> Transaction[bool]:
    """Delete what an entry says, and its words from the index. Returns False if the workspace has no such entry."""
    entry = yield from brain.find(workspace_id, entry_id)
    if entry is None or not entry.body:
        return False
    yield statements.forget_memory_words(workspace_id=workspace_id, entry_id=entry_id)
    yield statements.empty_memory(workspace_id=workspace_id, entry_id=entry_id)
    facts = {"entryId": entry_id, "kind": entry.kind, "state": "deleted", "before": entry.state, "by": by}
    yield from note_event(workspace_id, "memory_decided", facts, now_ms)
    return True


def has_results(workspace_id: WorkspaceId) -> Transaction[bool]:
    """Whether the workspace has remembered or measured anything."""
    return bool((yield statements.find_results(workspace_id=workspace_id)))
