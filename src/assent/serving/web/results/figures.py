"""The figures of the results page: series of one metric over runs, by channel, and the funnel of mail.
Pure.

Only numbers that count the same thing are added (E100): a metric over the channels of a run as its
measurement totals it, over runs only if its counts may be added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from assent.engine.learning.measured import Measurement
from assent.gate.measurement.metrics import ORDER, find_metric, fold_name
from assent.gate.measurement.recommend import group_numbers
from assent.kernel.structs import Record

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
        channel: {fold_name(name): float(value) for name, value in numbers.items()}
        for channel, numbers in group_numbers(found.sources).items()
    }
    return RunNumbers(channels, {fold_name(name): value for name, value in found.totals.items()})


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
            row = find_metric(metric)
            if row is not None and row.kind == "count" and row.additive and row.role != "delivery":
                having[metric] = having.get(metric, 0) + (find_value(run, metric) is not None)
    known = [metric for metric, count in having.items() if count]

    def rank(metric: str) -> tuple[bool, bool, int, int]:
        row, is_zero = find_metric(metric), not any(find_value(run, metric) for run in runs)
        return is_zero, row is None or row.role != "exposure", -having[metric], ORDER.get(metric, 0)

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
