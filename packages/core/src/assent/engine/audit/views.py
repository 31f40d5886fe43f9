"""Read model of a workspace's journal: pages by time, and one stream, and the newest decision about an action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from assent.gate.records import Action
from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record, WireRecord, from_record, from_row
from assent.kernel.texts import like_json
from assent.ports import Rows, Transaction
from assent.sql.loader import statements

LAST_MS: Final = 1 << 62
"""Later than any time."""

SEARCHED: Final = 1_000
"""How many events one search reads."""


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
    workspace_id: WorkspaceId,
    *,
    kinds: tuple[str, ...] = (),
    before: AuditCursor,
    since_ms: int = 0,
    search: str = "",
    most: int,
) -> Transaction[EventPage]:
    """List the events of a workspace since a time, newest first; with a search, of one window of the
    journal."""
    if search:
        return (yield from _search(workspace_id, kinds, before, since_ms, search, most))
    rows = yield from_record(
        statements.list_events_before,
        before,
        workspace_id=workspace_id,
        since_ms=since_ms,
        kinds=_join_kinds(kinds),
        most=most + 1,
    )
    return _page(rows, most)


def _search(
    workspace_id: WorkspaceId,
    kinds: tuple[str, ...],
    before: AuditCursor,
    since_ms: int,
    search: str,
    most: int,
) -> Transaction[EventPage]:
    """Search one window of the journal. `older` is its end, also if nothing in it fits."""
    here = {"at_ms": before.at_ms, "stream_id": before.stream_id, "seq": before.seq}
    ends = yield statements.find_event_window(
        workspace_id=workspace_id, since_ms=since_ms, **here, last=SEARCHED - 1
    )
    end = from_row(AuditCursor, ends[0]) if ends else AuditCursor(since_ms)
    rows = yield statements.search_events(
        workspace_id=workspace_id,
        **here,
        end_ms=end.at_ms,
        end_stream_id=end.stream_id,
        end_seq=end.seq,
        kinds=_join_kinds(kinds),
        pattern=like_json(search),
        most=most + 1,
    )
    found = _page(rows, most)
    return EventPage(found.events, found.older or (end if ends else None))


def events_since(
    workspace_id: WorkspaceId, since_ms: int, *, kinds: tuple[str, ...] = (), most: int
) -> Transaction[list[RecordedEvent]]:
    """List the events of a workspace since a time, newest first."""
    rows = yield statements.list_events_since(
        workspace_id=workspace_id, since_ms=since_ms, kinds=_join_kinds(kinds), most=most
    )
    return [from_row(RecordedEvent, row) for row in rows]


def stream_events(
    workspace_id: WorkspaceId,
    stream_id: str,
    *,
    kinds: tuple[str, ...] = (),
    before: AuditCursor,
    since_ms: int = 0,
    most: int,
) -> Transaction[EventPage]:
    """List the events of one stream, newest first."""
    rows = yield statements.list_stream_before(
        workspace_id=workspace_id,
        stream_id=stream_id,
        seq=before.seq or LAST_MS,
        at_ms=before.at_ms,
        since_ms=since_ms,
        kinds=_join_kinds(kinds),
        most=most + 1,
    )
    return _page(rows, most)


def count_days(
    workspace_id: WorkspaceId, days: Sequence[tuple[int, int]], most: int
) -> Transaction[list[int]]:
    """Count the events of each day, up to a number. A day is its first millisecond and the one after
    its last."""
    rows = yield statements.count_event_days(
        workspace_id=workspace_id, days=msgspec.json.encode(days).decode(), most=most
    )
    return [row["counted"] for row in sorted(rows, key=lambda row: int(row["day"]))]


def _page(rows: Rows, most: int) -> EventPage:
    shown = tuple(from_row(RecordedEvent, row) for row in rows[:most])
    return EventPage(shown, from_record(AuditCursor, shown[-1]) if len(rows) > most else None)


def _join_kinds(kinds: tuple[str, ...]) -> str:
    return f" {' '.join(kinds)} " if kinds else ""


DECISIONS: Final[dict[str, str]] = {
    "action_approve": "approved",
    "approval_recorded": "approved by one of several",
    "approval_taken_back": "withdrawn",
    "action_reject": "rejected",
    "action_edit": "edited",
    "action_withdraw": "withdrawn",
    "changes_asked": "changes asked",
    "action_hand_over": "recorded as published",
}
"""Events that are decisions, and their names."""

LOOKED_AT: Final = 60
"""Bound on the decisions of a run that are read."""


class GivenDecision(WireRecord, kw_only=True):
    what: str
    by: str
    at_ms: int
    assurance: str
    via: str
    comment: str
    changed: tuple[str, ...] = ()
    """The parts of the content that an edit changed."""


def list_decisions(action: Action) -> Transaction[tuple[GivenDecision, ...]]:
    """Return the decisions about an action, the newest first, of the newest ones of its run."""
    page = yield from stream_events(
        action.workspace_id, action.run_id, kinds=tuple(DECISIONS), before=AuditCursor(), most=LOOKED_AT
    )
    found = []
    for event in page.events:
        facts: dict[str, Any] = msgspec.json.decode(event.body)
        if facts.get("actionId") == action.action_id:
            found.append(
                GivenDecision(
                    what=DECISIONS[event.kind],
                    by=str(facts.get("by", "")),
                    at_ms=event.at_ms,
                    assurance=str(facts.get("assurance", "")),
                    via=str(facts.get("via", "")),
                    comment=str(facts.get("reason") or facts.get("text") or ""),
                    changed=tuple(facts.get("changed", ())) if event.kind == "action_edit" else (),
                )
            )
    return tuple(found)
