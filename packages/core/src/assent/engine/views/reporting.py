"""Read model of the report: the activity of a workspace since a time, and the evidence that its
record is unaltered.

A report uses the newest events of that time: the actions they are about, and refused attempts to
send. Both are bounded.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import actions
from assent.engine.audit import views as audit_views
from assent.engine.audit.log import Checkpoint
from assent.engine.core import tenancy
from assent.gate.records import WORKFLOW, Action, Status
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.structs import Record, WireRecord, from_row
from assent.ports import Transaction
from assent.sql.loader import statements

MOST_EVENTS: Final = 500
MOST_ACTIONS: Final = 25
MOST_LOOKED: Final = 2_000
"""How many of a tenant's latest actions are looked at."""

REFUSED: Final = "execution_refused"
PREPARED: Final = "run_prepared"
KINDS: Final = (
    PREPARED,
    "action_staged",
    "action_approve",
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
    more: bool
    """Whether there is more than is listed."""
    steps: int
    """Number of confirmed workflow steps, which are not listed."""
    refused: tuple[RefusedSend, ...]
    heads: tuple[StreamHead, ...]
    checkpoint: ReportedCheckpoint | None


def report(workspace_id: WorkspaceId, since_ms: int, tenant_id: str | None = None) -> Transaction[Report]:
    """Read the report since a time, of one tenant if it is named."""
    rows = yield from audit_views.events_since(workspace_id, since_ms, kinds=KINDS, most=MOST_EVENTS + 1)
    about: dict[str, None] = {}
    refused = []
    for row in rows[:MOST_EVENTS]:
        facts: dict[str, Any] = msgspec.json.decode(row.body)
        named = facts.get("actions", ()) if row.kind == PREPARED else (facts,)
        about.update(dict.fromkeys(str(each["actionId"]) for each in named if "actionId" in each))
        if row.kind == REFUSED:
            refused.append(_read_refused(facts, row.at_ms))
    if tenant_id is not None:
        found_ids: list[str] = []
        for status in Status:
            active = yield statements.list_tenant_activity(
                workspace_id=workspace_id,
                tenant_id=tenancy.name_tenant(tenant_id),
                status=status.value,
                since_ms=since_ms,
                looked=MOST_LOOKED,
                most=MOST_ACTIONS + 1,
            )
            found_ids += (row["action_id"] for row in active)
        about = dict.fromkeys(sorted(found_ids, reverse=True))
        refused = [each for each in refused if each.action_id in about]
        rows = []
    wanted = [(workspace_id, action_id) for action_id in list(about)[: 2 * MOST_ACTIONS]]
    stored = yield statements.list_actions_by_id(wanted=msgspec.json.encode(wanted).decode())
    by_id = {str(action.action_id): action for action in map(actions.action_of, stored)}
    found = [by_id[action_id] for action_id in about if action_id in by_id]
    sendable = [action for action in found if action.effect.connector != WORKFLOW]
    listed = tuple(sendable[:MOST_ACTIONS])
    runs = [(workspace_id, run_id) for run_id in dict.fromkeys(action.run_id for action in listed)]
    heads = yield statements.list_heads_by_id(wanted=msgspec.json.encode(runs).decode())
    newest = yield statements.last_checkpoint(workspace_id=SYSTEM_WORKSPACE)
    return Report(
        actions=listed,
        more=len(rows) > MOST_EVENTS or len(about) > len(found) or len(sendable) > len(listed),
        steps=len(found) - len(sendable),
        refused=tuple(refused),
        heads=tuple(
            StreamHead(run_id=row["stream_id"], events=row["seq"], hash=row["hash"]) for row in heads
        ),
        checkpoint=_checkpoint(newest[0]) if newest else None,
    )


def _read_refused(facts: dict[str, Any], at_ms: int) -> RefusedSend:
    said = {name: str(facts.get(name, "")) for name in ("reason", "detail", "by")}
    return RefusedSend(action_id=str(facts.get("actionId", "")), at_ms=at_ms, **said)


def _checkpoint(row: Any) -> ReportedCheckpoint:
    return from_row(ReportedCheckpoint, row, digest=from_row(Checkpoint, row).digest())
