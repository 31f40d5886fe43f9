"""The measure screen: each run's results against earlier runs, and the next move.

A source without numbers shows why. A number that was not measured is not shown as zero (E100).
Numbers entered by a person are marked.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from starlette.responses import Response

from assent.engine.learning.measured import Measurement, decode
from assent.engine.views import measure_views
from assent.engine.views.measure_views import MeasuredRun
from assent.gate.effects import EffectTypes
from assent.gate.measurement.metrics import amount, describe_numbers, name_number, read_numbers
from assent.gate.measurement.recommend import group_numbers
from assent.gate.standing import describe_run
from assent.kernel.structs import Record
from assent.ports import Reading
from assent.serving.web.review.words import Badge
from assent.serving.web.runs.screens import name_operator
from assent.serving.web.shell.charts import draw_bars, spark
from assent.serving.web.shell.console import Screen, Visit
from assent.serving.web.shell.times import when

RUNS: Final = 20
BY_HAND: Final = "recorded by hand"
"""The source of a reading that a person entered."""


async def measure(visit: Visit) -> Response:
    before, effects = visit.cursor(), visit.services.effects
    found = await visit.read(
        lambda: measure_views.list_measured(visit.workspace_id, before=before, most=RUNS)
    )
    effects = visit.services.effects
    shown = [(run, decode(run.body, effects) if run.body is not None else None) for run in found.runs]
    trend = find_trend([measurement for _, measurement in reversed(shown) if measurement is not None])
    values = {
        "runs": [show_run(run, measurement, effects, visit.now_ms) for run, measurement in shown],
        "trend": spark(trend.values) if trend is not None else None,
        "trend_of": f"{name_number(trend.metric).capitalize()}, {effects.page_label(trend.channel)}"
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


def show_run(
    run: MeasuredRun, found: Measurement | None, effects: EffectTypes, now_ms: int
) -> dict[str, Any]:
    source = partial(_source, effects)
    readings = [reading(each, effects) for each in found.sources] if found is not None else []
    if found is None:
        readings = [source(channel, name, reason=reason) for channel, name, reason in run.empty]
    known = {each["channel_id"] for each in readings}
    readings += [
        source(channel, BY_HAND, metrics=metrics)
        for channel, metrics, _ in run.by_hand
        if channel not in known
    ]
    return {
        "href": f"/runs/{run.run_id}/story",
        "goal": describe_run(run.inputs),
        "operator": name_operator(effects, run.operator),
        "tenant": run.tenant_id,
        "at": when(run.created_ms, now_ms),
        "measured": when(run.measured_ms, now_ms),
        "due": when(run.due_ms, now_ms),
        "is_due": run.due_ms <= now_ms,
        "tried": when(run.empty_at_ms, now_ms),
        "badge": _badge(run, now_ms),
        "bars": [(effects.page_label(bar.channel), bar) for bar in draw_bars(found)]
        if found is not None
        else [],
        "has_baseline": found is not None and bool(found.baseline),
        "move": found.next_move if found is not None else None,
        "sources": readings,
    }


def _badge(run: MeasuredRun, now_ms: int) -> Badge:
    if run.body is not None:
        return Badge("Measured", "ok")
    if run.due_ms > now_ms:
        return Badge("Too early", "info")
    return Badge("No numbers yet", "warn")


def reading(given: Reading, effects: EffectTypes) -> dict[str, Any]:
    told = given.metrics if given.status == "ok" else None
    return _source(
        effects, given.channel, given.source, metrics=told, reason=given.reason, left_out=given.left_out
    )


def _source(
    effects: EffectTypes,
    channel: str,
    source: str,
    *,
    metrics: dict[str, Any] | None = None,
    reason: str | None = None,
    left_out: tuple[str, ...] = (),
) -> dict[str, Any]:
    return {
        "channel_id": channel,
        "channel": effects.page_label(channel),
        "source": source,
        "by_hand": source == BY_HAND,
        "numbers": describe_numbers(metrics) if metrics else "",
        "left_out": ", ".join(left_out),
        "why": None if metrics else reason or "the source gave no reason",
    }


SCREENS: Final = (Screen("/measure", measure, "measure"),)
