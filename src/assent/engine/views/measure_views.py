"""Read model of measurements: each run with a delivery, and its results or why there are none
(E100).

The caller checks access.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.structs import Record, from_row
from assent.ports import Rows, Transaction
from assent.sql.loader import statements

_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])


class MeasuredRun(Record, kw_only=True):
    run_id: RunId
    tenant_id: str
    operator: str
    inputs: dict[str, Any]
    created_ms: int
    due_ms: int
    measured_ms: int | None
    body: str | None
    """The stored measurement (`measured.decode`); None before the first one."""
    empty_at_ms: int | None
    """When it was last measured without a result."""
    empty: tuple[tuple[str, str, str], ...]
    """The answers of its sources then: channel, source, reason."""
    by_hand: tuple[tuple[str, dict[str, float], int], ...]
    """Numbers that people entered: channel, numbers, time."""


class MeasuredPage(Record):
    runs: tuple[MeasuredRun, ...]
    older: str | None


def list_measured(workspace_id: WorkspaceId, *, before: str, most: int) -> Transaction[MeasuredPage]:
    """List the runs with a delivery, newest first."""
    rows = yield statements.list_measurement_page(workspace_id=workspace_id, before=before, most=most + 1)
    found = []
    for row in rows[:most]:
        run_id = RunId(row["run_id"])
        noted = yield statements.list_manual_metrics(workspace_id=workspace_id, run_id=run_id)
        empty: Rows = ()
        if row["body"] is None:
            empty = yield statements.last_event_of_kind(
                workspace_id=workspace_id, stream_id=run_id, kind="measurement_empty"
            )
        said = msgspec.json.decode(empty[0]["body"]).get("sources", ()) if empty else ()
        found.append(
            from_row(
                MeasuredRun,
                row,
                inputs=_OBJECT.decode(row["inputs"]),
                empty_at_ms=empty[0]["at_ms"] if empty else None,
                empty=tuple(
                    (str(each.get("channel", "")), str(each.get("source", "")), str(each.get("reason") or ""))
                    for each in said
                ),
                by_hand=tuple(
                    (each["channel"], msgspec.json.decode(each["metrics"]), each["recorded_ms"])
                    for each in noted
                ),
            )
        )
    return MeasuredPage(tuple(found), found[-1].run_id if len(rows) > most else None)
