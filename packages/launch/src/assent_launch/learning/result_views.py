"""Read model of results: the measured runs of a period and of the time before it, runs that wait for
their numbers, and why some have none (E100).

The caller checks access.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import actions
from assent.engine.learning import measurement
from assent.engine.views import names
from assent.engine.views.names import FirstAction
from assent.gate.records import Action, Status
from assent.kernel.ids import RunId, WorkspaceId, first_uuid7
from assent.kernel.structs import Record, from_row
from assent.ports import Row, Rows, Transaction
from assent.sql.loader import statements

RUNS: Final = 100
"""Measured runs of a period that are read, and as many of the time before it."""
WAITING: Final = 20
MOST_COUNTED: Final = 1_000
"""Bound of a count."""
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])


class ResultRun(Record, kw_only=True):
    """A run that went out, and its numbers or why it has none."""

    run_id: RunId
    operator: str
    name: str
    created_ms: int
    due_ms: int
    measured_ms: int | None
    body: str | None
    """The stored measurement (`measured.decode_measurement`); None before the first one."""
    sent_ms: int | None = None
    """When its first action went out."""
    empty_at_ms: int | None = None
    """When it was last measured without a result."""
    empty: tuple[tuple[str, str, str], ...] = ()
    """The answers of its sources then: channel, source, reason."""
    by_hand: tuple[tuple[str, dict[str, float], int], ...] = ()
    """Numbers that people entered and no measurement has yet: channel, numbers, time."""


class SentCounts(Record):
    sent: int
    failed: int
    unknown: int


class Results(Record, kw_only=True):
    measured: tuple[ResultRun, ...]
    """The latest first."""
    more: bool
    """Whether the period has more measured runs than are read."""
    earlier: tuple[str, ...]
    """Stored measurements from before the period, the latest first."""
    waiting: tuple[ResultRun, ...]
    """The soonest due first."""
    counts: SentCounts


class MeasurableRun(Record):
    """A run that went out, with the channels that people may enter numbers for."""

    run_id: RunId
    name: str
    channels: dict[str, bool]
    """Each channel that something went out on, and whether that was mail."""


def read_results(workspace_id: WorkspaceId, since_ms: int) -> Transaction[Results]:
    """Read the results since a time, and the latest of the time before it."""
    rows = yield statements.list_results(workspace_id=workspace_id, since_ms=-1, most=2 * RUNS + 1)
    inside = [row for row in rows if row["measured_ms"] > since_ms]
    outside = [row for row in rows if row["measured_ms"] <= since_ms]
    due = yield statements.list_unmeasured(workspace_id=workspace_id, since_ms=since_ms, most=WAITING)
    firsts = yield from names.read_first_actions(
        workspace_id, [row["run_id"] for row in (*inside[:RUNS], *due)], most=1
    )
    waiting = []
    for row in due:
        waiting.append((yield from _read_waiting(workspace_id, row, firsts)))
    counted = yield statements.count_sent(
        workspace_id=workspace_id, since_ms=since_ms, since=first_uuid7(max(0, since_ms)), most=MOST_COUNTED
    )
    return Results(
        measured=tuple(_run(row, firsts) for row in inside[:RUNS]),
        more=len(inside) > RUNS,
        earlier=tuple(row["body"] for row in outside[:RUNS]),
        waiting=tuple(waiting),
        counts=from_row(SentCounts, counted[0]),
    )


def _run(row: Row, firsts: dict[str, tuple[FirstAction, ...]], **more: Any) -> ResultRun:
    name = names.name_run(_OBJECT.decode(row["inputs"]), firsts.get(row["run_id"], ()))
    return from_row(ResultRun, row, name=name, **{"empty_at_ms": None, "empty": (), "by_hand": (), **more})


def _read_waiting(
    workspace_id: WorkspaceId, row: Row, firsts: dict[str, tuple[FirstAction, ...]]
) -> Transaction[ResultRun]:
    run_id = RunId(row["run_id"])
    noted = yield from measurement.list_reported(workspace_id, run_id)
    empty: Rows = yield statements.last_event_of_kind(
        workspace_id=workspace_id, stream_id=run_id, kind="measurement_empty"
    )
    said = msgspec.json.decode(empty[0]["body"]).get("sources", ()) if empty else ()
    return _run(
        row,
        firsts,
        empty_at_ms=empty[0]["at_ms"] if empty else None,
        empty=tuple(
            (str(each.get("channel", "")), str(each.get("source", "")), str(each.get("reason") or ""))
            for each in said
        ),
        by_hand=tuple(
            (each["channel"], msgspec.json.decode(each["metrics"]), each["recorded_ms"]) for each in noted
        ),
    )


def find_measurable(workspace_id: WorkspaceId, run_id: str) -> Transaction[MeasurableRun | None]:
    """Find a run that people may enter numbers for; None if nothing of it went out."""
    run = yield from actions.find_run(workspace_id, RunId(run_id))
    of_run: tuple[Action, ...] = ()
    if run is not None:
        of_run = yield from actions.run_actions(workspace_id, run.run_id)
    sent = [action for action in of_run if action.status is Status.EXECUTED]
    if run is None or not sent:
        return None
    firsts = yield from names.read_first_actions(workspace_id, [run_id], most=1)
    channels = {action.effect.channel: action.view.mail for action in sent}
    return MeasurableRun(run.run_id, names.name_run(run.inputs, firsts.get(run_id, ())), channels)
