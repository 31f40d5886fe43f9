"""A stored measurement: its shape and its text.

Readings are facts. Totals, comparisons and advice are computed from them when they are stored (E100).
Runs no SQL.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from assent.gate.effects import EffectTypes
from assent.gate.measurement.metrics import describe_numbers, read_numbers, select_credible
from assent.gate.measurement.recommend import NextMove, Usual, assess
from assent.kernel.structs import WireRecord
from assent.ports import Reading

ASSET_TYPE = "measurement"


class Measurement(WireRecord, kw_only=True):
    """One measurement of a whole run."""

    measured_at: str
    sources: tuple[Reading, ...]
    totals: dict[str, float]
    """Counts of the run; only numbers that may be added over its channels."""
    baseline: tuple[Usual, ...]
    next_move: NextMove


def assess_run(
    measured_at: str,
    sources: tuple[Reading, ...],
    effects: EffectTypes,
    earlier: Iterable[tuple[Reading, ...]] = (),
) -> Measurement:
    """Assess the readings of a run in comparison with those of earlier runs."""
    found = assess(sources, effects, earlier)
    return Measurement(
        measured_at=measured_at,
        sources=sources,
        totals=found.totals,
        baseline=found.usual,
        next_move=found.next_move,
    )


def decode_measurement(body: str) -> Measurement:
    return msgspec.json.decode(body, type=Measurement)


def present(found: Measurement, described: list[str]) -> dict[str, Any]:
    """Return text and metadata of a measurement's asset; `described` has its sources' texts."""
    lines = [
        text + _mention_left_out(reading) for text, reading in zip(described, found.sources, strict=True)
    ]
    advice = f"Next: {found.next_move.move} {found.next_move.why}"
    return {
        "body": "\n".join([*lines, "", advice]),
        "metadata": {ASSET_TYPE: msgspec.to_builtins(found)},
    }


def check_reading(reading: Reading) -> Reading:
    """Keep credible numbers only and name the others. Without any, it is unavailable."""
    if reading.status != "ok":
        return reading
    kept, left_out = select_credible(reading.metrics)
    named = tuple(dict.fromkeys((*reading.left_out, *left_out)))
    if kept:
        return msgspec.structs.replace(reading, metrics=kept, left_out=named)
    reason = (
        f"it gave only values that cannot be right ({', '.join(named)})" if named else "it gave no numbers"
    )
    return Reading(source=reading.source, channel=reading.channel, status="unavailable", reason=reason)


def describe_sources(readings: Iterable[Reading], effects: EffectTypes) -> list[str]:
    """Describe the numbers of each source, or why it has none, under the name of its channel."""
    return [f"{effects.label(each.channel)}: {_describe_numbers(each)}" for each in readings]


def describe_reading(reading: Reading, *, short: bool = False) -> str:
    """Describe the numbers of one source, or why it has none, and the values that were left out."""
    if short and reading.status == "ok":
        return read_numbers(reading.metrics).summarise() + _mention_left_out(reading)
    return _describe_numbers(reading) + _mention_left_out(reading)


def _describe_numbers(reading: Reading) -> str:
    return describe_numbers(reading.metrics) if reading.status == "ok" else f"no numbers ({reading.reason})"


def _mention_left_out(reading: Reading) -> str:
    named = ", ".join(reading.left_out)
    return f" (left out as not credible: {named})" if named and reading.status == "ok" else ""
