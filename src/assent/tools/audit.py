"""The audit trail, by workspace and by run (E42, E45)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from assent.engine import actions, journal
from assent.kernel.limits import MAX_PAGE
from assent.kernel.refusals import bad_argument
from assent.kernel.times import iso_time
from assent.lifecycle.audit import ActionRecord, record_of
from assent.lifecycle.records import Action, Status
from assent.ports import Transaction
from assent.tools.arguments import Cursor, PageSize, RunIdArgument
from assent.tools.definition import READS, Call, Tool

MAX_EVENTS = 500
"""Events of one page of a run."""


class QueryAudit(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    run_id: RunIdArgument | None = None
    status: (
        Annotated[
            Literal["awaiting_approval", "approved", "rejected", "edited", "executed", "failed"],
            msgspec.Meta(description="Only actions that are in this status now."),
        ]
        | None
    ) = None
    cursor: Cursor | None = None
    limit: PageSize = MAX_PAGE


class AuditEvent(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    seq: int
    kind: str
    at: str
    hash: str
    facts: dict[str, Any]


class AuditTrail(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: bool
    actions: tuple[ActionRecord, ...]
    events: tuple[AuditEvent, ...]
    next_cursor: str | None


async def query_audit(call: Call, request: QueryAudit) -> AuditTrail:
    workspace_id = call.caller.workspace_id
    status = Status(request.status) if request.status is not None else None
    most = request.limit

    if request.run_id is None:
        after = request.cursor or ""
        found = await call.services.store.read(lambda: actions.trail(workspace_id, status, after, most + 1))
        return _trail(found[:most], (), found[most - 1].action_id if len(found) > most else None, call.now_ms)
    run_id = actions.require_run_id(request.run_id)
    after, seen = _place(request.cursor)

    def begin() -> Transaction[tuple[tuple[Action, ...], list[journal.Event]]]:
        of_run = yield from actions.run_actions(workspace_id, run_id)
        events = yield from journal.read_stream(workspace_id, run_id, after_seq=seen, limit=MAX_EVENTS + 1)
        return of_run, events

    of_run, events = await call.services.store.read(begin)
    # In the order of the cursor: ids of one moment do not follow the order of staging.
    left = tuple(
        action
        for action in sorted(of_run, key=lambda action: action.action_id)
        if action.action_id > after and (status is None or action.status is status)
    )
    shown, told = left[:most], tuple(events[:MAX_EVENTS])
    more = len(left) > most or len(events) > MAX_EVENTS
    last = shown[-1].action_id if shown else after
    cursor = f"{last}:{told[-1].seq if told else seen}" if more else None
    return _trail(shown, told, cursor, call.now_ms)


def _place(cursor: str | None) -> tuple[str, int]:
    """Where a page of a run goes on: after this action and this event."""
    after, _, seen = (cursor or ":0").partition(":")
    if not (seen.isascii() and seen.isdigit()):
        raise bad_argument("cursor", "nextCursor of the page before", repr((cursor or "")[:40]))
    return after, int(seen)


def _trail(
    found: tuple[Action, ...], events: tuple[journal.Event, ...], cursor: str | None, now_ms: int
) -> AuditTrail:
    return AuditTrail(
        ok=True,
        actions=tuple(record_of(action, now_ms) for action in found),
        events=tuple(
            AuditEvent(
                seq=event.seq,
                kind=event.kind,
                at=iso_time(event.at_ms),
                hash=event.hash,
                facts=msgspec.json.decode(event.body),
            )
            for event in events
        ),
        next_cursor=cursor,
    )


TOOLS = (
    Tool(
        name="chieflab_query_audit",
        title="Read the audit trail",
        description="The audit records of the workspace's actions, or of one run with its events: what was staged, "
        "who "
        "decided what and how, what was sent and what came back. USE WHEN the user asks what happened or wants "
        "proof.",
        category="review",
        behaviour=READS,
        request=QueryAudit,
        reply=AuditTrail,
        handler=query_audit,
    ),
)
