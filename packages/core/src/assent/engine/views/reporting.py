"""Read model of the report: the activity of a workspace since a time, and the evidence that its
record is unaltered.

It counts every action with an event in that time and every refused attempt to send, and lists the latest actions.
Both are bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from assent.engine.actions import actions
from assent.engine.audit import views as audit_views
from assent.engine.audit.log import Checkpoint
from assent.engine.core import tenancy
from assent.gate.records import Action, ExecutionState, Status
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.structs import Record, WireRecord, from_row
from assent.ports import Row, Transaction
from assent.present.status_report import Section, divide, may_expire
from assent.sql.loader import statements

MOST_EVENTS: Final = 20_000
"""How many of the newest events are read for the actions that they are about."""
MOST_NOTED: Final = 1_000
"""How many refused attempts and approvals are read."""
REFUSED_LISTED: Final = 10
MOST_ACTIONS: Final = 25
MOST_LOOKED: Final = 2_000
"""How many of a tenant's latest actions in a status are looked at."""

REFUSED: Final = "execution_refused"
PREPARED: Final = "run_prepared"
APPROVED: Final = "action_approve"
KINDS: Final = (
    PREPARED,
    "action_staged",
    APPROVED,
    "approval_recorded",
    "action_reject",
    "action_edit",
    "action_withdraw",
    "changes_asked",
    "action_claim",
    "action_succeed",
    "action_refuse",
    "action_postpone",
    "action_lose",
    "action_restore",
    "action_found_done",
    "action_found_refused",
    "action_found_not_done",
    "action_hand_over",
    REFUSED,
)
"""Events that are about an action."""


class RefusedSend(Record, kw_only=True):
    action_id: str
    at_ms: int
    reason: str
    detail: str
    by: str


class StreamHead(WireRecord, kw_only=True):
    run_id: str
    events: int
    hash: str


class ReportedCheckpoint(WireRecord, kw_only=True):
    number: int
    at_ms: int
    digest: str
    public_key: str


class Report(Record, kw_only=True):
    actions: tuple[Action, ...]
    """Actions with events, the latest first."""
    total: int
    """How many there are, of which a page is listed."""
    skipped: int
    """How many there are before it."""
    is_bounded: bool
    """Whether there were too many events to read them all."""
    counts: dict[Section, int]
    """How many there are of each section."""
    steps: int
    """Number of confirmed workflow steps, which are not listed."""
    refused: tuple[RefusedSend, ...]
    named: dict[str, str]
    """What the listed actions are, and those whose sending was refused last, by id."""
    places: dict[tuple[str, int], str]
    """Where it was approved in that time, by action and time."""
    heads: tuple[StreamHead, ...]
    checkpoint: ReportedCheckpoint | None

    @property
    def more(self) -> bool:
        return self.skipped + len(self.actions) < self.total


def report(
    workspace_id: WorkspaceId, since_ms: int, tenant_id: str | None, after: str, now_ms: int
) -> Transaction[Report]:
    """Read the report since a time, of one tenant if it is named. It lists what comes after an action."""
    rows, is_bounded = yield from _list_active(workspace_id, since_ms, tenant_id)
    about = [str(row["action_id"]) for row in rows if not row["is_step"]]
    counted = yield statements.count_actions_by_state(
        workspace_id=workspace_id, wanted=msgspec.json.encode(about).decode(), now_ms=now_ms
    )
    counts = Counter[Section]()
    for row in counted:
        counts[_find_section(row)] += row["subjects"]
    known = {action_id: place for place, action_id in enumerate(about)}
    skipped = known.get(after, -1) + 1
    noted = yield from audit_views.events_since(
        workspace_id, since_ms, kinds=(REFUSED, APPROVED), most=MOST_NOTED
    )
    told = [(event.kind, event.at_ms, msgspec.json.decode(event.body)) for event in noted]
    refused = [_read_refused(facts, at_ms) for kind, at_ms, facts in told if kind == REFUSED]
    refused = [each for each in refused if tenant_id is None or each.action_id in known]
    page = about[skipped : skipped + MOST_ACTIONS]
    named = dict.fromkeys([*page, *(each.action_id for each in refused[:REFUSED_LISTED])])
    wanted = [(workspace_id, action_id) for action_id in named]
    stored = yield statements.list_actions_by_id(wanted=msgspec.json.encode(wanted).decode())
    by_id = {str(action.action_id): action for action in map(actions.action_of, stored)}
    listed = tuple(by_id[action_id] for action_id in page if action_id in by_id)
    runs = [(workspace_id, run_id) for run_id in dict.fromkeys(action.run_id for action in listed)]
    heads = yield statements.list_heads_by_id(wanted=msgspec.json.encode(runs).decode())
    newest = yield statements.last_checkpoint(workspace_id=SYSTEM_WORKSPACE)
    return Report(
        actions=listed,
        total=len(about),
        skipped=skipped,
        is_bounded=is_bounded,
        counts=counts,
        steps=len(rows) - len(about),
        refused=tuple(refused),
        named={action_id: f"{each.view.label}, “{each.headline}”" for action_id, each in by_id.items()},
        places={
            (str(facts["actionId"]), at_ms): str(facts.get("via", ""))
            for kind, at_ms, facts in told
            if kind == APPROVED
        },
        heads=tuple(
            StreamHead(run_id=row["stream_id"], events=row["seq"], hash=row["hash"]) for row in heads
        ),
        checkpoint=_checkpoint(newest[0]) if newest else None,
    )


def _list_active(
    workspace_id: WorkspaceId, since_ms: int, tenant_id: str | None
) -> Transaction[tuple[Sequence[Row], bool]]:
    """Return the actions with something since a time, the latest first, and whether there may be more."""
    if tenant_id is None:
        rows = yield statements.list_active_actions(
            workspace_id=workspace_id, since_ms=since_ms, kinds=f" {' '.join(KINDS)} ", most=MOST_EVENTS
        )
        return rows, bool(rows) and rows[0]["events"] == MOST_EVENTS
    found, is_bounded = list[Row](), False
    for status in Status:
        active = yield statements.list_tenant_activity(
            workspace_id=workspace_id,
            tenant_id=tenancy.name_tenant(tenant_id),
            status=status.value,
            since_ms=since_ms,
            most=MOST_LOOKED,
        )
        found += active
        is_bounded = is_bounded or len(active) == MOST_LOOKED
    return sorted(found, key=lambda row: row["action_id"], reverse=True), is_bounded


def _find_section(row: Row) -> Section:
    status, execution = Status(row["status"]), ExecutionState(row["execution_state"])
    return divide(
        status,
        execution,
        is_expired=bool(row["is_late"]) and may_expire(status, execution),
        by_hand=bool(row["by_hand"]),
        is_gone=bool(row["is_gone"]),
    )


def _read_refused(facts: dict[str, Any], at_ms: int) -> RefusedSend:
    said = {name: str(facts.get(name, "")) for name in ("reason", "detail", "by")}
    return RefusedSend(action_id=str(facts.get("actionId", "")), at_ms=at_ms, **said)


def _checkpoint(row: Any) -> ReportedCheckpoint:
    return from_row(ReportedCheckpoint, row, digest=from_row(Checkpoint, row).digest())
