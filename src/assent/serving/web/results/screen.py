"""The measure screen: each run's results against earlier runs, and the next move.

A source without numbers shows why. A number that was not measured is not shown as zero (E100).
Numbers entered by a person are marked.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from assent.engine.learning.measured import Measurement
from assent.engine.views import measure_views
from assent.engine.views.measure_views import MeasuredRun
from assent.gate.standing import describe_run
from assent.kernel.structs import Record
from assent.ports import Reading
from assent.serving.web.review.times import when
from assent.serving.web.review.words import Badge, channel_name
from assent.serving.web.runs.screens import operator_name
from assent.serving.web.shell.charts import draw_bars, spark
from assent.serving.web.shell.console import Screen, Visit
from assent.suite.measurement.metrics import amount, describe_numbers, name_number, read_numbers
from assent.suite.measurement.recommend import group_numbers

RUNS: Final = 20
BY_HAND: Final = "recorded by hand"
"""The source of a reading that a person entered."""


async def measure(visit: Visit) -> Response:
    before = visit.cursor()
    found = await visit.read(
        lambda: measure_views.list_measured(visit.workspace_id, before=before, most=RUNS)
    )
    trend = find_trend([run.found for run in reversed(found.runs) if run.found is not None])
    values = {
        "runs": [show_run(run, visit.now_ms) for run in found.runs],
        "trend": spark(trend.values) if trend is not None else None,
        "trend_of": f"{name_number(trend.metric).capitalize()}, {channel_name(trend.channel)}"
        if trend
        else "",
        "trend_values": [amount(value) for value in trend.values] if trend is not None else [],
        "older": f"/measure?before={found.older}" if found.older else None,
        "is_first": not before,
    }
    return visit.page("measure.html", values)


class Trend(Record):
    """One metric of one channel over several runs, oldest first."""

    channel: str
    metric: str
    values: tuple[float, ...]


def find_trend(measured: list[Measurement]) -> Trend | None:
    """The exposure of the channel that most runs have. None if fewer than two runs have it."""
    found: dict[tuple[str, str], list[float]] = {}
    for each in measured:
        for channel, numbers in group_numbers(each.sources).items():
            if (name := read_numbers(numbers).exposure) is not None:
                found.setdefault((channel, name), []).append(float(numbers[name]))
    if not found:
        return None
    (channel, metric), values = max(found.items(), key=lambda each: len(each[1]))
    return Trend(channel, metric, tuple(values)) if len(values) > 1 else None


def show_run(run: MeasuredRun, now_ms: int) -> dict[str, Any]:
    found = run.found
    readings = [reading(each) for each in found.sources] if found is not None else []
    if found is None:
        readings = [_source(channel, source, reason=reason) for channel, source, reason in run.empty]
    known = {each["channel_id"] for each in readings}
    readings += [
        _source(channel, BY_HAND, metrics=metrics)
        for channel, metrics, _ in run.by_hand
        if channel not in known
    ]
    return {
        "href": f"/runs/{run.run_id}/story",
        "goal": describe_run(run.inputs),
        "operator": operator_name(run.operator),
        "tenant": run.tenant_id,
        "at": when(run.created_ms, now_ms),
        "measured": when(run.measured_ms, now_ms),
        "due": when(run.due_ms, now_ms),
        "is_due": run.due_ms <= now_ms,
        "tried": when(run.empty_at_ms, now_ms),
        "badge": _badge(run, now_ms),
        "bars": [(channel_name(bar.channel), bar) for bar in draw_bars(found)] if found is not None else [],
        "has_baseline": found is not None and bool(found.baseline),
        "move": found.next_move if found is not None else None,
        "sources": readings,
    }


def _badge(run: MeasuredRun, now_ms: int) -> Badge:
    if run.found is not None:
        return Badge("Measured", "ok")
    if run.due_ms > now_ms:
        return Badge("Too early", "info")
    return Badge("No numbers yet", "warn")


def reading(given: Reading) -> dict[str, Any]:
    told = given.metrics if given.status == "ok" else None
    return _source(given.channel, given.source, metrics=told, reason=given.reason, left_out=given.left_out)


def _source(
    channel: str,
    source: str,
    *,
    metrics: dict[str, Any] | None = None,
    reason: str | None = None,
    left_out: tuple[str, ...] = (),
) -> dict[str, Any]:
    return {
        "channel_id": channel,
        "channel": channel_name(channel),
        "source": source,
        "by_hand": source == BY_HAND,
        "numbers": describe_numbers(metrics) if metrics else "",
        "left_out": ", ".join(left_out),
        "why": None if metrics else reason or "the source gave no reason",
    }


SCREENS: Final = (Screen("/measure", measure, "measure"),)
