"""Read model of results: the measured runs of a period and of the time before it, runs that wait for
their numbers, and why some have none (E100).

The caller checks access.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.platform import count_sent, find_last_event, read_heads
from assent.sdk import Record, RunId, Status, Transaction, WorkspaceId, list_actions
from assent_launch.learning import measurement

RUNS: Final = 100
"""Measured runs of a period that are read, and as many of the time before it."""
WAITING: Final = 20
MOST_COUNTED: Final = 1_000
"""Bound of a count."""


class ResultRun(Record, kw_only=True):
    """A run that went out, and its numbers or why it has none."""

    run_id: RunId
    tenant_id: str
    operator: str
    name: str
    created_ms: int
    due_ms: int
    measured_ms: int | None
    body: str | None
    """The stored measurement; None before the first one."""
    sent_ms: int | None = None
    """When its first action went out."""
    empty_at_ms: int | None = None
    """When it was last measured without a result."""
    empty: tuple[tuple[str, str, str], ...] = ()
    """The answers of its sources then: channel, source, reason."""
    by_hand: tuple[tuple[str, dict[str, float], int], ...] = ()
    """Numbers that people entered and no measurement has yet: channel, numbers, time."""


class Results(Record, kw_only=True):
    measured: tuple[ResultRun, ...]
    """The latest first."""
    more: bool
    """Whether the period has more measured runs than are read."""
    earlier: tuple[str, ...]
    """Stored measurements from before the period, the latest first."""
    waiting: tuple[ResultRun, ...]
    """The soonest due first."""
    sent: int
    """How many actions went out, failed, or have an unknown outcome."""
    failed: int
    unknown: int


class MeasurableRun(Record):
    """A run that went out, with the channels that people may enter numbers for."""

    run_id: RunId
    name: str
    channels: dict[str, bool]
    """Each channel that something went out on, and whether that was mail."""


def read_results(workspace_id: WorkspaceId, since_ms: int, tenant_id: str = "") -> Transaction[Results]:
    """Read the results since a time, and the latest of the time before it; of one tenant if it is named."""
    read = yield from measurement.list_read(workspace_id, -1, 2 * RUNS + 1, tenant_id)
    inside = [each for each in read if (each.measured_ms or 0) > since_ms]
    outside = [each for each in read if (each.measured_ms or 0) <= since_ms]
    due = yield from measurement.list_unmeasured(workspace_id, since_ms, WAITING, tenant_id)
    heads = yield from read_heads(workspace_id, [each.run_id for each in (*inside[:RUNS], *due)])
    runs = {
        each.run_id: ResultRun(
            run_id=head.run_id,
            operator=head.operator,
            name=head.name,
            created_ms=head.created_ms,
            tenant_id=each.tenant_id,
            due_ms=each.due_ms,
            measured_ms=each.measured_ms,
            body=each.body,
            sent_ms=head.sent_ms if each.measured_ms is not None else None,
        )
        for each in (*inside[:RUNS], *due)
        if (head := heads.get(each.run_id)) is not None
    }
    waiting = []
    for each in due:
        if (run := runs.get(each.run_id)) is not None:
            waiting.append((yield from _read_waiting(workspace_id, run)))
    counts = yield from count_sent(workspace_id, since_ms, MOST_COUNTED, tenant_id)
    return Results(
        measured=tuple(runs[each.run_id] for each in inside[:RUNS] if each.run_id in runs),
        more=len(inside) > RUNS,
        earlier=tuple(each.body for each in outside[:RUNS] if each.body is not None),
        waiting=tuple(waiting),
        sent=counts.sent,
        failed=counts.failed,
        unknown=counts.unknown,
    )


def _read_waiting(workspace_id: WorkspaceId, run: ResultRun) -> Transaction[ResultRun]:
    noted = yield from measurement.list_reported(workspace_id, run.run_id)
    empty = yield from find_last_event(workspace_id, run.run_id, "measurement_empty")
    said = msgspec.json.decode(empty.body).get("sources", ()) if empty is not None else ()
    return msgspec.structs.replace(
        run,
        empty_at_ms=empty.at_ms if empty is not None else None,
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
    of_run = yield from list_actions(workspace_id, RunId(run_id))
    sent = [action for action in of_run if action.status is Status.EXECUTED]
    if not sent:
        return None
    heads = yield from read_heads(workspace_id, (run_id,))
    channels = {action.effect.channel: action.view.mail for action in sent}
    return MeasurableRun(RunId(run_id), heads[run_id].name, channels)
