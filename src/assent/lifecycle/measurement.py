"""What readings add up to, and what to do next (E32). Pure: compares numbers, invents none (E100)."""

from __future__ import annotations

from typing import Final, Literal, Protocol

import msgspec

ATTENTION: Final = ("views", "impressions", "reach", "delivered", "opens", "sessions")
RESPONSE: Final = ("clicks", "replies", "comments", "likes", "shares", "signups", "points", "conversions")

WHOLE_RUN: Final = frozenset({"web", "search"})
"""What counts visitors of all channels together: it says how the run went, and not which channel did it."""


def amount(value: float) -> str:
    """A number in a sentence: whole where it is whole, never rounded to powers of ten."""
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


NOT_MEASURED: Final = frozenset({"contacts"})
"""Channels whose effects nobody sees: there is nothing to count."""


class ReadingLike(Protocol):
    """As much of a reading as is needed here."""

    @property
    def channel(self) -> str: ...
    @property
    def status(self) -> Literal["ok", "unavailable"]: ...
    @property
    def metrics(self) -> dict[str, int | float]: ...


class Summary(msgspec.Struct, frozen=True):
    measured: bool
    totals: dict[str, float]


class Baseline(msgspec.Struct, frozen=True, rename="camel"):
    """What this tenant's earlier runs brought on average."""

    runs: int
    averages: dict[str, float]


class NextMove(msgspec.Struct, frozen=True, rename="camel"):
    """One recommendation, with the numbers it rests on."""

    move: str
    why: str
    channel: str | None


def summarise(readings: tuple[ReadingLike, ...]) -> Summary:
    totals: dict[str, float] = {}
    for reading in readings:
        if reading.status == "ok":
            for name, value in reading.metrics.items():
                totals[name] = totals.get(name, 0) + value
    return Summary(any(reading.status == "ok" for reading in readings), totals)


def next_move(readings: tuple[ReadingLike, ...], summary: Summary, baseline: Baseline | None) -> NextMove:
    """The best channel is repeated, a channel that is seen and not answered is reworded, an unseen one is replaced."""
    every = [reading for reading in readings if reading.status == "ok"]
    if not every:
        return NextMove("Wait for numbers.", "No source has any yet.", None)
    # A visitor of a channel is counted again on the page it leads to, so the two are not added up.
    ok = [reading for reading in every if reading.channel not in WHOLE_RUN]
    if not ok:
        return _of_visitors(summary)
    seen, answered = (_counted(ok, names) for names in (ATTENTION, RESPONSE))
    best = max(
        ok, key=lambda reading: (_total(reading.metrics, RESPONSE), _total(reading.metrics, ATTENTION))
    )
    compared = ""
    if baseline is not None:
        usual = _total(baseline.averages, ATTENTION)
        compared = f" Earlier runs averaged {amount(usual)}."
    if seen == 0 and answered == 0:
        return NextMove(
            "Try another channel or another opening.",
            f"Nobody has seen it yet: 0 views over {len(ok)} measured channel(s).{compared}",
            None,
        )
    if answered == 0:
        return NextMove(
            f"Rewrite the opening and the call to action for {best.channel}.",
            f"It was seen {amount(seen)} times and nobody responded.{compared}",
            best.channel,
        )
    return NextMove(
        f"Follow up on {best.channel} with what got the response.",
        f"{best.channel} brought {amount(_total(best.metrics, RESPONSE))} responses from "
        f"{amount(_total(best.metrics, ATTENTION))} views.{compared}",
        best.channel,
    )


def _of_visitors(summary: Summary) -> NextMove:
    """The run is known by the visitors of its pages alone: no channel can be singled out."""
    seen, answered = _total(summary.totals, ATTENTION), _total(summary.totals, RESPONSE)
    if answered == 0:
        return NextMove(
            "Rewrite what the page says first, and what it asks visitors to do.",
            f"Its pages were seen {amount(seen)} times and nobody responded.",
            None,
        )
    return NextMove(
        "Go on with what leads people to the page, and record the numbers of each channel.",
        f"Its pages were seen {amount(seen)} times and brought {amount(answered)} responses; no channel has numbers of "
        "its own.",
        None,
    )


def _counted(readings: list[ReadingLike], names: tuple[str, ...]) -> float:
    return sum(_total(reading.metrics, names) for reading in readings)


def _total(metrics: dict[str, int | float] | dict[str, float], names: tuple[str, ...]) -> float:
    return float(sum(metrics.get(name, 0) for name in names))
