"""The table: one line for each measurement, and how its figures are shown.

To add a measurement, write a function that takes a directory of its own and returns figures, and name it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from benchmarks.figures import Figure, NotRun
from benchmarks.rows import (
    console_pages,
    first_paint,
    fleet_loop,
    gate_growth,
    gate_http,
    gate_loop,
    gate_policy,
    history,
    peer_loop,
    sizes,
    slack_taps,
    stdio_start,
    store_postgres,
    store_sqlite,
    tool_call,
    twenty_requests,
    user_loop,
    workflow_steps,
    wrap_call,
    wrap_start,
)

Measurement = Callable[[Path], list[Figure]]

MEASUREMENTS: Final[dict[str, Measurement]] = {
    "user-loop": user_loop.measure,
    "fleet-loop": fleet_loop.measure,
    "peer-loop": peer_loop.measure,
    "slack-taps": slack_taps.measure,
    "store-sqlite": store_sqlite.measure,
    "store-postgres": store_postgres.measure,
    "gate": gate_loop.measure,
    "gate-http": gate_http.measure,
    "gate-growth": gate_growth.measure,
    "gate-policy": gate_policy.measure,
    "history-sqlite": history.measure_sqlite,
    "history-postgres": history.measure_postgres,
    "tool-call": tool_call.measure,
    "stdio-start": stdio_start.measure,
    "workflow-steps": workflow_steps.measure,
    "wrap-call": wrap_call.measure,
    "wrap-start": wrap_start.measure,
    "console-pages": console_pages.measure,
    "first-paint": first_paint.measure,
    "sizes": sizes.measure,
    "twenty-requests": twenty_requests.measure,
}

_HEADINGS: Final = ("work", "against", "ours", "theirs", "ratio", "more", "limit", "")
_VERDICTS: Final = {True: "kept", False: "MISSED", None: ""}


def measure(name: str, scratch: Path) -> list[Figure]:
    """Measure, and fail with an error that can leave the process: a refusal cannot, and would be told as its death.

    Here, because a new process cannot import from `__main__`."""
    try:
        return MEASUREMENTS[name](scratch)
    except NotRun:
        raise
    except Exception as error:
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


def shown(figures: Iterable[Figure]) -> str:
    """The figures as a Markdown table that is readable as plain text, and their notes below it."""
    figures = list(figures)
    lines = [_HEADINGS, *(_cells(figure) for figure in figures)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    rule = tuple("-" * width for width in widths)
    table = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (lines[0], rule, *lines[1:])
    ]
    return "\n".join((*table, *(f"{figure.work}: {figure.note}" for figure in figures if figure.note)))


def _cells(figure: Figure) -> tuple[str, ...]:
    return (
        figure.work,
        figure.against,
        f"{_number(figure.ours)} {figure.unit}",
        f"{_number(figure.theirs)} {figure.unit}",
        f"{figure.ratio:.2f}×",
        f"{'+' if figure.more >= 0 else '−'}{_number(abs(figure.more))} {figure.unit}",
        figure.limit.words(figure.unit) if figure.limit is not None else "",
        _VERDICTS[figure.kept],
    )


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
