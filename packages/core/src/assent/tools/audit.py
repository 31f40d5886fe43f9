"""The audit trail, by workspace and by run."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from assent.engine.actions import actions
from assent.engine.audit import views as audit_views
from assent.engine.audit.views import RecordedEvent
from assent.engine.core import journal
from assent.gate.audit import WHAT_HASHES_PROVE, ActionRecord, build_record
from assent.gate.records import Action, Status
from assent.kernel.ids import first_uuid7, require_run_id
from assent.kernel.limits import MAX_PAGE
from assent.kernel.refusals import bad_argument
from assent.kernel.structs import Arguments, WireRecord, from_record
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.tools.arguments import Cursor, PageSize, RunIdArgument, Since, since_moment
from assent.tools.definition import READS, Call, Tool

MAX_EVENTS = 500
"""Events per page of a run."""

LATEST_EVENTS = 50
"""The newest events of a workspace."""


class QueryAudit(Arguments, kw_only=True):
    run_id: RunIdArgument | None = None
    since: Since | None = None
    status: (
        Annotated[
            Literal["awaiting_approval", "approved", "rejected", "edited", "executed", "failed"],
            msgspec.Meta(description="Only actions that are in this status now."),
        ]
        | None
    ) = None
    cursor: Cursor | None = None
    limit: PageSize = MAX_PAGE


class AuditEvent(WireRecord, kw_only=True):
    stream_id: str
    """The run whose chain has the event; events about the workspace itself have their own chain."""
    seq: int
    kind: str
    at: str
    hash: str
    facts: dict[str, Any]


class AuditTrail(WireRecord, kw_only=True):
    ok: bool
    actions: tuple[ActionRecord, ...]
    events: tuple[AuditEvent, ...]
    """The events of a run in order, by page; of a workspace only the newest, on the first page."""
    earlier_events: bool
    """Whether the workspace has earlier events; ask by run for them, or until later."""
    next_cursor: str | None
    proves: str


async def query_audit(call: Call, request: QueryAudit) -> AuditTrail:
    """Return the audit trail of the caller's workspace, or of one of its runs (E45)."""
    status = Status(request.status) if request.status is not None else None
    since_ms = since_moment("since", request.since, call.now_ms) if request.since is not None else 0
    if request.run_id is None:
        return await _of_workspace(call, request, status, since_ms)
    workspace_id, most = call.caller.workspace_id, request.limit
    run_id = require_run_id(request.run_id)
    after, last_seq = _place(request.cursor)

    def begin() -> Transaction[tuple[tuple[Action, ...], list[journal.Event]]]:
        of_run = yield from actions.run_actions(workspace_id, run_id)
        events = yield from journal.read_stream(
            workspace_id, run_id, after_seq=last_seq, limit=MAX_EVENTS + 1
        )
        return of_run, events

    of_run, events = await call.services.store.read(begin)
    # In the order of the cursor: ids of the same millisecond do not follow the order of staging.
    left = tuple(
        action
        for action in sorted(of_run, key=lambda action: action.action_id)
        if action.action_id > after and (status is None or action.status is status)
    )
    shown, page = left[:most], events[:MAX_EVENTS]
    more = len(left) > most or len(events) > MAX_EVENTS
    last = shown[-1].action_id if shown else after
    entries = tuple(_event(each, run_id) for each in page if each.at_ms >= since_ms)
    cursor = f"{last}:{page[-1].seq if page else last_seq}" if more else None
    return _trail(shown, entries, cursor, call.now_ms)


async def _of_workspace(call: Call, request: QueryAudit, status: Status | None, since_ms: int) -> AuditTrail:
    workspace_id, most = call.caller.workspace_id, request.limit
    after = request.cursor or (first_uuid7(since_ms) if since_ms else "")

    def begin() -> Transaction[tuple[tuple[Action, ...], list[RecordedEvent]]]:
        found = yield from actions.trail(workspace_id, status, after, most + 1)
        if request.cursor is not None:
            return found, []
        latest = yield from audit_views.events_since(workspace_id, since_ms, most=LATEST_EVENTS + 1)
        return found, latest

    found, latest = await call.services.store.read(begin)
    entries = tuple(_event(each, each.stream_id) for each in latest[:LATEST_EVENTS])
    cursor = found[most - 1].action_id if len(found) > most else None
    return _trail(found[:most], entries, cursor, call.now_ms, earlier=len(latest) > LATEST_EVENTS)


def _place(cursor: str | None) -> tuple[str, int]:
    """Parse the cursor: the page begins after this action and this event."""
    after, _, last_seq = (cursor or ":0").partition(":")
    if not (last_seq.isascii() and last_seq.isdigit()):
        raise bad_argument("cursor", "nextCursor of the page before", repr((cursor or "")[:40]))
    return after, int(last_seq)


def _event(event: journal.Event | RecordedEvent, stream_id: str) -> AuditEvent:
    return from_record(
        AuditEvent,
        event,
        stream_id=stream_id,
        at=iso_time(event.at_ms),
        facts=msgspec.json.decode(event.body),
    )


def _trail(
    found: tuple[Action, ...],
    events: tuple[AuditEvent, ...],
    cursor: str | None,
    now_ms: int,
    *,
    earlier: bool = False,
) -> AuditTrail:
    return AuditTrail(
        ok=True,
        actions=tuple(build_record(action, now_ms) for action in found),
        events=events,
        earlier_events=earlier,
        next_cursor=cursor,
        proves=WHAT_HASHES_PROVE,
    )


TOOLS = (
    Tool(
        name="chieflab_query_audit",
        title="Read the audit trail",
        description="The audit records of actions and the events of the workspace since a moment, or of one run: what "
        "was staged, who decided what and how, what was sent and what came back, each with its hash. USE WHEN the user "
        "wants the records themselves; chieflab_report sums them up.",
        behaviour=READS,
        request=QueryAudit,
        reply=AuditTrail,
        handler=query_audit,
    ),
)
