"""The results screens: what became of what was sent, against earlier runs, and the next move.

A source without numbers shows why, with the way to mend it. A number that was not measured is not
shown as zero (E100). Numbers entered by a person are marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Any, Final

from starlette.responses import Response

from assent.platform import EffectTypes
from assent.sdk import (
    LOOK_AND_SEND,
    Link,
    NavigationEntry,
    PageProblem,
    PageRefused,
    Record,
    Screen,
    Tenant,
    Transaction,
    Visit,
    is_uuid,
    list_tenants,
    with_query,
)
from assent_launch.learning import measuring, memory_views, metrics, result_views
from assent_launch.learning.measurement import Measurement, decode_measurement
from assent_launch.learning.recommend import group_numbers
from assent_launch.screens import charts
from assent_launch.screens.memory import list_tabs

PERIODS: Final = (("28", "28 days"), ("91", "3 months"), ("all", "All time"))
"""The periods by their name in the address; the first one is the default."""

MAIL_FIELDS: Final = ("delivered", "opened", "clicked", "bounced", "unsubscribed")
POST_FIELDS: Final = ("impressions", "views", "clicks", "comments", "reactions", "shares")
"""The numbers that the form asks for."""

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


NOT_SENT: Final = PageProblem(
    404,
    "There is nothing to add numbers to",
    "Nothing of this run has been sent, or it is not in the workspace you look at.",
    "Choose a run that was sent.",
    Link("/results", "Results"),
)


def describe_change(value: float, usual: float | None, runs: int) -> tuple[str, str]:
    """Compare an average with that of earlier runs: the words and their tone."""
    if usual is None:
        return "No baseline yet", ""
    earlier = "one earlier run" if runs == 1 else f"{runs} earlier runs"
    if usual <= 0 or value == usual:
        return f"{metrics.amount(usual)} per run in {earlier}", ""
    share = round(100 * (value - usual) / usual)
    sign = "▲" if value > usual else "▼"
    return f"{sign} {abs(share)} % per run, against {earlier}", "up" if value > usual else "down"


def explain_gap(reason: str) -> str:
    """Why a source has no numbers, as the end of a sentence."""
    if reason == metrics.NO_SOURCE:
        return "the channel gives the server none"
    return reason.rstrip(".") or "the source gave no reason"


def write_count(count: int) -> str:
    return f"{count:,}+" if count >= result_views.MOST_COUNTED else f"{count:,}"


def describe_counts(failed: int, unknown: int) -> str:
    parts = ((failed, "failed"), (unknown, "unknown"))
    return " · ".join(f"{write_count(count)} {word}" for count, word in parts if count) or "None failed"


def say_funnel(runs: int, lost: str) -> str:
    """How many runs report these numbers, and how much was lost on the way."""
    reports = "One run reports these numbers" if runs == 1 else f"{runs} runs report these numbers"
    return f"{reports}; {lost}." if lost else f"{reports}."


# The figures of the results page: series of one metric over runs, by channel, and the funnel of mail. Pure.
#
# Only numbers that count the same thing are added (E100): a metric over the channels of a run as its measurement
# totals it, over runs only if its counts may be added.

MOST_METRICS: Final = 6
FUNNEL: Final = (
    ("Sent", ("sent",)),
    ("Delivered", ("delivered",)),
    ("Opened", ("opened", "opens", "unique opens")),
    ("Clicked", ("clicked", "clicks", "unique clicks")),
)
"""The steps of a mail, each with the names of its number; the first that a source has counts."""
LOST: Final = (("bounced", ("bounced", "bounces")), ("complained", ("complained", "complaints")))

PART_HOURS: Final = 4
"""Hours of one part of a day."""
ENOUGH_RUNS: Final = 4

Numbers = Mapping[str, float]


class RunNumbers(Record):
    """The numbers of one run, by channel, under the names of the table of metrics."""

    channels: dict[str, dict[str, float]]
    totals: dict[str, float]


def read_run(found: Measurement) -> RunNumbers:
    channels = {
        channel: {metrics.fold_name(name): float(value) for name, value in numbers.items()}
        for channel, numbers in group_numbers(found.sources).items()
    }
    return RunNumbers(channels, {metrics.fold_name(name): value for name, value in found.totals.items()})


def find_value(run: RunNumbers, metric: str) -> float | None:
    """The number of a run; None if it has none, or several that may not be added."""
    if metric in run.totals:
        return run.totals[metric]
    having = [numbers[metric] for numbers in run.channels.values() if metric in numbers]
    return having[0] if len(having) == 1 else None


def has_metric(run: RunNumbers, metric: str) -> bool:
    """Whether a source of the run knows this number."""
    return metric in run.totals or any(metric in numbers for numbers in run.channels.values())


def list_metrics(runs: Sequence[RunNumbers]) -> list[str]:
    """The metrics to offer: counts that may be added over runs. How many people saw it comes first, then
    the number that most runs have; a number that is always zero comes last."""
    having: dict[str, int] = {}
    for run in runs:
        for metric in dict.fromkeys(name for numbers in run.channels.values() for name in numbers):
            row = metrics.find_metric(metric)
            if row is not None and row.kind == "count" and row.additive and row.role != "delivery":
                having[metric] = having.get(metric, 0) + (find_value(run, metric) is not None)
    known = [metric for metric, count in having.items() if count]

    def rank(metric: str) -> tuple[bool, bool, int, int]:
        row, is_zero = metrics.find_metric(metric), not any(find_value(run, metric) for run in runs)
        return is_zero, row is None or row.role != "exposure", -having[metric], metrics.ORDER.get(metric, 0)

    return sorted(known, key=rank)[:MOST_METRICS]


class Series(Record):
    """One metric over the runs of a period, oldest first."""

    metric: str
    values: tuple[float | None, ...]
    total: float
    average: float
    usual: float | None
    """The average of earlier runs."""
    usual_runs: int


def make_series(metric: str, runs: Sequence[RunNumbers], earlier: Sequence[RunNumbers]) -> Series:
    values = tuple(find_value(run, metric) for run in runs)
    known = [value for value in values if value is not None]
    before = [value for run in earlier if (value := find_value(run, metric)) is not None]
    return Series(
        metric=metric,
        values=values,
        total=sum(known),
        average=sum(known) / len(known) if known else 0.0,
        usual=sum(before) / len(before) if before else None,
        usual_runs=len(before),
    )


def sum_channels(metric: str, runs: Iterable[RunNumbers]) -> dict[str, float]:
    """The metric of each channel over the runs that have it, the greatest first."""
    found: dict[str, float] = {}
    for run in runs:
        for channel, numbers in run.channels.items():
            if metric in numbers:
                found[channel] = found.get(channel, 0.0) + numbers[metric]
    return dict(sorted(found.items(), key=lambda each: -each[1]))


def list_channels(metric: str, runs: Sequence[RunNumbers]) -> dict[str, tuple[float | None, ...]]:
    """The metric of each channel over the runs, oldest first; the channel with the greatest sum first."""
    return {
        channel: tuple(run.channels.get(channel, {}).get(metric) for run in runs)
        for channel in sum_channels(metric, runs)
    }


class HourCell(Record):
    """The runs that went out on one weekday in one part of the day."""

    runs: int
    average: float


def average_by_time(
    values: Sequence[float | None], moments: Sequence[datetime | None]
) -> dict[tuple[int, int], HourCell]:
    """The average of a metric by weekday and part of the day. Empty with fewer than four runs: that is
    chance."""
    found: dict[tuple[int, int], list[float]] = {}
    for value, moment in zip(values, moments, strict=True):
        if value is not None and moment is not None:
            found.setdefault((moment.weekday(), moment.hour // PART_HOURS), []).append(value)
    if sum(map(len, found.values())) < ENOUGH_RUNS:
        return {}
    return {place: HourCell(len(each), sum(each) / len(each)) for place, each in found.items()}


class Funnel(Record):
    steps: tuple[tuple[str, float], ...]
    lost: tuple[tuple[str, float], ...]
    runs: int


def sum_funnel(runs: Iterable[RunNumbers]) -> Funnel | None:
    """The steps of mail over the runs that report the most of them; None without a first step."""
    mails = [numbers for run in runs for numbers in run.channels.values() if _read_steps(numbers)]
    if not mails:
        return None
    most = max((_read_steps(numbers) for numbers in mails), key=len)
    alike = [numbers for numbers in mails if _read_steps(numbers).keys() >= most.keys()]
    if len(most) < 2:
        return None
    steps = tuple((name, sum(_read_steps(each)[name] for each in alike)) for name in most)
    lost = tuple(
        (name, sum(value for each in alike if (value := _first(each, names)) is not None))
        for name, names in LOST
        if any(_first(each, names) is not None for each in alike)
    )
    return Funnel(steps, lost, len(alike))


def _read_steps(numbers: Numbers) -> dict[str, float]:
    """The steps that a channel reports; none if it reports no delivery."""
    found = {name: value for name, names in FUNNEL if (value := _first(numbers, names)) is not None}
    return found if {"Sent", "Delivered"} & found.keys() else {}


def _first(numbers: Numbers, names: Iterable[str]) -> float | None:
    return next((numbers[name] for name in names if name in numbers), None)


TILES: Final = 3
COLUMNS: Final = 24
"""Runs of the chart; the latest ones."""
LABELS: Final = 8
"""Labels below a chart; more would not fit."""
SHOWN_RUNS: Final = 30


class MeasuredRun(Record):
    run: result_views.ResultRun
    found: Measurement
    numbers: RunNumbers


async def results(visit: Visit) -> Response:
    effects, period = visit.services.effects, visit.choice("period", dict(PERIODS)) or PERIODS[0][0]
    since_ms, tenant = -1, visit.query("tenant").strip()[:64]
    if period != "all":
        first = datetime.fromtimestamp(visit.now_ms / 1000, visit.zone).date() - timedelta(
            days=int(period) - 1
        )
        since_ms = int(datetime.combine(first, time(), visit.zone).timestamp() * 1000)

    def look() -> Transaction[tuple[result_views.Results, list[Tenant]]]:
        found = yield from result_views.read_results(visit.workspace_id, since_ms, tenant)
        return found, (yield from list_tenants(visit.workspace_id))

    found, tenants = await visit.read(look)
    connected = await visit.services.connections.list_all(visit.workspace_id)
    measured = []
    for run in reversed(found.measured):
        decoded = decode_measurement(run.body or "")
        measured.append(MeasuredRun(run, decoded, read_run(decoded)))
    earlier = [read_run(decode_measurement(body)) for body in found.earlier]
    runs = [each.numbers for each in measured]
    offered = list_metrics(runs)
    chosen = visit.choice("metric", offered) or next(iter(offered), "")
    series = {metric: make_series(metric, runs, earlier) for metric in offered}
    having = [each for each in measured if has_metric(each.numbers, chosen)]
    shown = make_series(chosen, [each.numbers for each in having], earlier)
    kept = {"period": period, "tenant": tenant}
    live = {each.provider for each in connected.values() if each.live}
    values = {
        "tenant": tenant,
        "tenants": tenants,
        "tabs": list_tabs(""),
        "periods": [
            (label, with_query("/results", {**kept, "period": id, "metric": chosen}), id == period)
            for id, label in PERIODS
        ],
        "tiles": [_tile(series[metric], metric == chosen, kept) for metric in offered[:TILES]],
        "others": [
            (_name(metric), with_query("/results", {**kept, "metric": metric}), metric == chosen)
            for metric in offered[TILES:]
        ],
        "sent": write_count(found.sent),
        "sent_note": describe_counts(found.failed, found.unknown),
        "chart": _chart(shown, having, visit) if chosen else None,
        "channels": _channels(chosen, [each.numbers for each in having], effects) if chosen else [],
        "chosen": _name(chosen),
        "times": _best_times(shown, having, visit.zone) if chosen else None,
        "gaps": _list_gaps(visit, measured, live),
        "funnel": _funnel(runs),
        "runs": [_run_row(visit, each, offered[:TILES]) for each in reversed(measured)][:SHOWN_RUNS],
        "columns": [_name(metric) for metric in offered[:TILES]],
        "more": found.more or len(measured) > SHOWN_RUNS,
        "pending": [_waiting_row(visit, run, live) for run in found.waiting],
        "did": visit.query("did") == "numbers",
        "is_empty": not found.measured and not found.waiting and not found.earlier,
    }
    return visit.page("results.html", values)


def _name(metric: str) -> str:
    return metrics.name_number(metric).capitalize()


def _tile(series: Series, chosen: bool, kept: dict[str, str]) -> dict[str, Any]:
    words, tone = describe_change(series.average, series.usual, series.usual_runs)
    return {
        "label": _name(series.metric),
        "value": metrics.amount(series.total),
        "words": words,
        "tone": tone,
        "chosen": chosen,
        "href": with_query("/results", {**kept, "metric": series.metric}),
    }


def _chart(series: Series, measured: Sequence[MeasuredRun], visit: Visit) -> dict[str, Any]:
    """One metric over the latest runs, with its axis and the average of earlier runs."""
    values, shown = series.values[-COLUMNS:], measured[-COLUMNS:]
    drawn = charts.draw_columns(values, series.usual)
    every = -(-len(shown) // LABELS)
    days = [visit.when(each.run.created_ms).day.rpartition(" ")[0] for each in shown]
    earlier = "one earlier run" if series.usual_runs == 1 else f"{series.usual_runs} earlier runs"
    return {
        "drawn": drawn,
        "ticks": [metrics.amount(tick) for tick in drawn.axis.ticks],
        "labels": [
            _short_day(day) if place % every == 0 or len(shown) <= LABELS else ""
            for place, day in enumerate(days)
        ],
        "titles": [
            f"{_title(each.run)}: {metrics.describe_number(series.metric, value)}"
            if value is not None
            else ""
            for each, value in zip(shown, values, strict=True)
        ],
        "baseline": f"Average of {earlier}: {metrics.amount(series.usual)}"
        if series.usual is not None
        else "",
        "rows": [
            (_title(each.run), day, metrics.amount(value) if value is not None else "no number")
            for each, day, value in zip(shown, days, values, strict=True)
        ],
    }


def _short_day(day: str) -> str:
    number, _, month = day.partition(" ")
    return f"{number} {month[:3]}"


def _title(run: result_views.ResultRun) -> str:
    return run.name or "A run"


def _channels(metric: str, runs: Sequence[RunNumbers], effects: EffectTypes) -> list[dict[str, Any]]:
    """The sum of each channel, and its runs as a small chart; all of them on one scale."""
    found = list_channels(metric, runs)
    sums = [sum(value or 0.0 for value in values) for values in found.values()]
    drawn = charts.draw_multiples([values[-COLUMNS:] for values in found.values()])
    return [
        {
            "name": effects.page_label(channel),
            "value": metrics.amount(total),
            "length": length,
            "chart": chart,
        }
        for channel, total, length, chart in zip(found, sums, charts.draw_lengths(sums), drawn, strict=True)
    ]


def _best_times(series: Series, measured: Sequence[MeasuredRun], zone: tzinfo) -> dict[str, Any] | None:
    """A heat map of when runs went out and how well they did; None with too few runs."""
    moments = [
        datetime.fromtimestamp(each.run.sent_ms / 1000, zone) if each.run.sent_ms else None
        for each in measured
    ]
    cells = average_by_time(series.values, moments)
    if not cells:
        return None
    most = max(cell.average for cell in cells.values())
    parts = sorted({part for _, part in cells})

    def write(cell: HourCell | None) -> tuple[int, str, int] | None:
        return (
            (charts.shade(cell.average, most), metrics.amount(round(cell.average)), cell.runs)
            if cell
            else None
        )

    return {
        "parts": [f"{part * PART_HOURS}–{(part + 1) * PART_HOURS} h" for part in parts],
        "rows": [
            (name, [write(cells.get((day, part))) for part in parts]) for day, name in enumerate(WEEKDAYS)
        ],
    }


def _funnel(runs: Sequence[RunNumbers]) -> dict[str, Any] | None:
    found = sum_funnel(runs)
    if found is None:
        return None
    return {
        "steps": [
            {
                "name": step.name,
                "value": metrics.amount(step.value),
                "length": step.length,
                "share": f"{metrics.amount(step.share)} %" if step.share is not None else "",
            }
            for step in charts.draw_funnel(found.steps)
        ],
        "said": say_funnel(found.runs, ", ".join(metrics.describe_number(*each) for each in found.lost)),
    }


def _list_gaps(visit: Visit, measured: Sequence[MeasuredRun], live: set[str]) -> list[dict[str, Any]]:
    """The channels without numbers in the latest run that used them, each with what mends it."""
    found: dict[str, dict[str, Any]] = {}
    seen: set[str] = set()
    for each in reversed(measured):
        here = {reading.channel for reading in each.found.sources if reading.status == "ok"}
        for reading in each.found.sources:
            if reading.status != "ok" and reading.channel not in seen | here | found.keys():
                found[reading.channel] = gap(
                    visit, each.run.run_id, reading.channel, reading.source, reading.reason or "", live
                )
        seen |= here
    return list(found.values())


def gap(visit: Visit, run_id: str, channel: str, source: str, reason: str, live: set[str]) -> dict[str, Any]:
    """Why a channel has no numbers, and the button that mends it."""
    effects = visit.services.effects
    info = effects.connectors.get(source)
    button = ("Add numbers", with_query(NUMBERS_PATH, {"run": run_id, "channel": channel}))
    if reason != metrics.NO_SOURCE and info is not None and info.auth_mode != "none" and source not in live:
        button = (f"Connect {info.label}", f"/connect/{source}?workspace={visit.workspace_id}")
    elif not effects.has_channel(channel):
        button = ("Manage", "/connectors")
    return {
        "channel": effects.page_label(channel),
        "why": explain_gap(reason),
        "button": button,
    }


def _run_row(visit: Visit, each: MeasuredRun, shown: Sequence[str]) -> dict[str, Any]:
    effects = visit.services.effects
    own = {metric: each.numbers.totals.get(metric) for metric in shown}
    sources = [
        {
            "channel": effects.page_label(reading.channel),
            "by_hand": metrics.is_told(reading.source),
            "numbers": metrics.describe_numbers(reading.metrics) if reading.status == "ok" else "",
            "left_out": ", ".join(reading.left_out),
            "why": explain_gap(reading.reason or ""),
        }
        for reading in each.found.sources
    ]
    return {
        "href": f"/runs/{each.run.run_id}/story",
        "title": each.run.name or effects.name_operator(each.run.operator),
        "at": visit.when(each.run.measured_ms),
        "values": [metrics.amount(value) if value is not None else "" for value in own.values()],
        "sources": sources,
        "move": each.found.next_move,
        "add": with_query(NUMBERS_PATH, {"run": each.run.run_id}),
    }


def _waiting_row(visit: Visit, run: result_views.ResultRun, live: set[str]) -> dict[str, Any]:
    effects = visit.services.effects
    return {
        "href": f"/runs/{run.run_id}/story",
        "title": run.name or effects.name_operator(run.operator),
        "due": visit.when(run.due_ms),
        "is_due": run.due_ms <= visit.now_ms,
        "tried": visit.when(run.empty_at_ms),
        "gaps": [gap(visit, run.run_id, *each, live) for each in run.empty],
        "by_hand": [
            (effects.page_label(channel), metrics.describe_numbers(given))
            for channel, given, _ in run.by_hand
        ],
        "add": with_query(NUMBERS_PATH, {"run": run.run_id}),
    }


# Add numbers: what a person reads at a channel that gives the server none.

MOST_SOURCE_CHARS: Final = 500
NUMBERS_PATH: Final = "/results/numbers"


async def numbers(visit: Visit) -> Response:
    """Show the form for one channel of a run, and record what was typed."""
    run_id = visit.query("run")

    def look() -> Transaction[result_views.MeasurableRun | None]:
        if not is_uuid(run_id):
            return None
        return (yield from result_views.find_measurable(visit.workspace_id, run_id))

    run = await visit.read(look)
    if run is None:
        raise PageRefused(NOT_SENT)
    channel = visit.choice("channel", run.channels) or next(iter(run.channels))
    fields = MAIL_FIELDS if run.channels[channel] else POST_FIELDS
    typed: dict[str, str] = {}
    advice: dict[str, str] = {}
    if visit.request.method == "POST":
        typed = await visit.form(visit.here(f"numbers {run_id} {channel}"))
        advice = find_mistakes(typed, fields)
        if not advice:
            await _record(visit, run, channel, typed, fields)
            return visit.go("/results?did=numbers")
    effects = visit.services.effects
    values: dict[str, Any] = {
        "run": run,
        "channels": [
            (
                effects.page_label(id),
                with_query(NUMBERS_PATH, {"run": run_id, "channel": id}),
                id == channel,
            )
            for id in run.channels
        ],
        "channel": effects.page_label(channel),
        "action": with_query(NUMBERS_PATH, {"run": run_id, "channel": channel}),
        "fields": [(name, metrics.name_number(name).capitalize(), typed.get(name, "")) for name in fields],
        "source": typed.get("source", ""),
        "advice": advice,
        "nonce": visit.nonce(visit.here(f"numbers {run_id} {channel}")),
    }
    return visit.page("results_numbers.html", values, status=400 if advice else 200)


def find_mistakes(typed: dict[str, str], fields: tuple[str, ...]) -> dict[str, str]:
    """The advice for each field that cannot be read."""
    found = {}
    given = {name: text for name in fields if (text := _bare(typed.get(name, "")))}
    for name, text in given.items():
        is_number = text.isascii() and text.isdigit() and len(text) <= 13
        if not is_number or int(text) > metrics.LARGEST:
            found[name] = "Enter a whole number, or leave it empty."
    if not given:
        found[fields[0]] = "Enter at least one number."
    source = typed.get("source", "").strip()
    if not source or len(source) > MOST_SOURCE_CHARS:
        found["source"] = "Say where you read the numbers, such as “LinkedIn, post analytics”."
    return found


def _bare(text: str) -> str:
    """A number without the separators that people type."""
    return text.strip().replace(",", "").replace(" ", "").replace("\u202f", "").replace("\u00a0", "")


async def _record(
    visit: Visit,
    run: result_views.MeasurableRun,
    channel: str,
    typed: dict[str, str],
    fields: tuple[str, ...],
) -> None:
    """Store the numbers, and measure the run with them if it is due."""
    given = {name: float(text) for name in fields if (text := _bare(typed.get(name, "")))}
    source = f"{typed['source'].strip()}, by {visit.person.label}"
    clock, about = visit.services.clock, (visit.workspace_id, run.run_id, channel)
    await measuring.report_numbers(clock, *about, given, source, visit.write)


TEMPLATES: Final = Path(__file__).with_name("templates")

SCREENS: Final = (
    Screen(
        "/results",
        results,
        "results",
        entry=NavigationEntry("results", "/results", "Results", "results", docked=True),
        has_content=memory_views.has_results,
        templates=TEMPLATES,
    ),
    Screen(NUMBERS_PATH, numbers, "results", LOOK_AND_SEND, templates=TEMPLATES),
)
