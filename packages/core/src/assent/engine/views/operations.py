"""Read model of the operations page: how long things wait, how decisions are made, and what fails.

Decisions are read from the journal, the newest of a period and a bounded number of them. The caller
checks access.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import actions, policies
from assent.gate.policy import Policy
from assent.gate.records import Action
from assent.kernel.ids import WorkspaceId, first_uuid7
from assent.kernel.limits import DAY_MS, HOUR_MS
from assent.kernel.structs import Record, from_row
from assent.kernel.times import parse_time
from assent.ports import Row, Transaction
from assent.sql.loader import statements

MOST_DECISIONS: Final = 500
MOST_FAILED: Final = 100
MOST_UNKNOWN: Final = 20
MOST_WAITING: Final = 1_000
"""Bound of the count of one age."""

AGES: Final = (0, HOUR_MS, 4 * HOUR_MS, DAY_MS, 3 * DAY_MS, 7 * DAY_MS)
"""The ages by which waiting actions are counted; the last one has no end."""

_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])


class RecordedDecision(Record, kw_only=True):
    """One approval or rejection, with what it was about."""

    action_id: str
    run_id: str
    at_ms: int
    approved: bool
    unchanged: bool
    """Whether the content was as it was first proposed."""
    waited_ms: int
    looked_ms: int | None
    """How long the page was open; None if the decision was not made on a page."""
    risk: int
    """0 is high, 2 is low."""
    proposed_by: str
    """The key that proposed it."""
    channel: str
    verb: str
    by: str
    is_step: bool
    """Whether it confirms a step of a workflow."""


class Operations(Record, kw_only=True):
    ages: tuple[int, ...]
    """How many actions wait, by `AGES`."""
    decisions: tuple[RecordedDecision, ...]
    """The latest first."""
    failed: tuple[Action, ...]
    unknown: tuple[Action, ...]
    policy: Policy
    labels: dict[str, str]
    """The labels of the workspace's keys, by the caller's name."""


def read_operations(workspace_id: WorkspaceId, since_ms: int, now_ms: int) -> Transaction[Operations]:
    counted = yield statements.count_waiting_ages(
        workspace_id=workspace_id,
        ages=msgspec.json.encode(_age_bounds(now_ms)).decode(),
        now_ms=now_ms,
        most=MOST_WAITING,
    )
    decided = yield statements.list_decisions(
        workspace_id=workspace_id, since_ms=since_ms, most=MOST_DECISIONS
    )
    failed = yield statements.list_failed_actions(
        workspace_id=workspace_id, since=first_uuid7(max(0, since_ms)), most=MOST_FAILED
    )
    unknown = yield statements.list_unknown_actions(workspace_id=workspace_id, most=MOST_UNKNOWN)
    keys = yield statements.list_api_keys(workspace_id=workspace_id)
    return Operations(
        ages=tuple(row["waiting"] for row in sorted(counted, key=lambda row: int(row["age"]))),
        decisions=tuple(_read_decision(row) for row in decided),
        failed=tuple(actions.action_of(row) for row in failed),
        unknown=tuple(actions.action_of(row) for row in unknown),
        policy=(yield from policies.find(workspace_id)),
        labels={f"key:{row['key_id']}": row["label"] for row in keys},
    )


def read_examples(workspace_id: WorkspaceId, action_ids: list[str]) -> Transaction[dict[str, Action]]:
    """Read some actions by id, as examples of their kind."""
    wanted = msgspec.json.encode([(workspace_id, each) for each in action_ids]).decode()
    rows = yield statements.list_actions_by_id(wanted=wanted)
    return {row["action_id"]: actions.action_of(row) for row in rows}


def _age_bounds(now_ms: int) -> list[tuple[str, str]]:
    """The least and the next greater id of each age."""
    starts = [first_uuid7(max(0, now_ms - age)) for age in AGES[1:]]
    youngest = first_uuid7(now_ms + DAY_MS)
    return list(zip((*starts, first_uuid7(0)), (youngest, *starts), strict=True))


def _read_decision(row: Row) -> RecordedDecision:
    facts = _OBJECT.decode(row["body"])
    shown_ms = parse_time(str(facts.get("shownAt", "")))
    return from_row(
        RecordedDecision,
        row,
        approved=row["kind"] == "action_approve",
        unchanged=facts.get("revision") == 1,
        waited_ms=max(0, row["at_ms"] - row["created_ms"]),
        looked_ms=max(0, row["at_ms"] - shown_ms) if shown_ms is not None else None,
        by=str(facts.get("by", "")),
        is_step=row["executor_tool"] == "workflow_advance",
    )
