"""Read model of a workspace's journal: pages by time, and one stream."""

from __future__ import annotations

from typing import Final

from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record, from_record, from_row
from assent.ports import Rows, Transaction
from assent.sql.loader import statements

LAST_MS: Final = 1 << 62
"""Later than any time."""


class RecordedEvent(Record):
    stream_id: str
    seq: int
    kind: str
    at_ms: int
    body: str
    hash: str


class AuditCursor(Record):
    """A page of the journal begins before this event."""

    at_ms: int = LAST_MS
    stream_id: str = ""
    seq: int = 0


class EventPage(Record):
    events: tuple[RecordedEvent, ...]
    older: AuditCursor | None


def events(
    workspace_id: WorkspaceId, *, kinds: tuple[str, ...] = (), before: AuditCursor, most: int
) -> Transaction[EventPage]:
    """List the events of a workspace, newest first."""
    rows = yield statements.list_events_before(
        workspace_id=workspace_id,
        at_ms=before.at_ms,
        stream_id=before.stream_id,
        seq=before.seq,
        kinds=_join_kinds(kinds),
        most=most + 1,
    )
    return _page(rows, most)


def events_since(
    workspace_id: WorkspaceId, since_ms: int, *, kinds: tuple[str, ...] = (), most: int
) -> Transaction[list[RecordedEvent]]:
    """List the events of a workspace since a time, newest first."""
    rows = yield statements.list_events_since(
        workspace_id=workspace_id, since_ms=since_ms, kinds=_join_kinds(kinds), most=most
    )
    return [from_row(RecordedEvent, row) for row in rows]


def stream_events(
    workspace_id: WorkspaceId, stream_id: str, *, kinds: tuple[str, ...] = (), before: AuditCursor, most: int
) -> Transaction[EventPage]:
    """List the events of one stream, newest first."""
    rows = yield statements.list_stream_before(
        workspace_id=workspace_id,
        stream_id=stream_id,
        seq=before.seq or LAST_MS,
        at_ms=before.at_ms,
        kinds=_join_kinds(kinds),
        most=most + 1,
    )
    return _page(rows, most)


def _page(rows: Rows, most: int) -> EventPage:
    shown = tuple(from_row(RecordedEvent, row) for row in rows[:most])
    return EventPage(shown, from_record(AuditCursor, shown[-1]) if len(rows) > most else None)


def _join_kinds(kinds: tuple[str, ...]) -> str:
    return f" {' '.join(kinds)} " if kinds else ""
