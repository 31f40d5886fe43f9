"""The report of the fault programme: written by a run that is large enough, and without a finding.

`make prove` writes it. The check itself is tried on reports that are made here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from proof.report import MINIMUM, About, Row, write_report

FILE = Path(__file__).parents[3] / "RELIABILITY.md"
HEAD = (
    r"^- Commit: `[0-9a-f]{40}`$",
    r"^- Machine: \d+ cores, \d+ GB of memory$",
    r"^- Date: \d{4}-\d\d-\d\d$",
    r"^- Other tests with large numbers: \d+ passed, 0 failed$",
)
ABOUT = About("2026-09-21", "0123456789" * 4, "2 cores, 8 GB of memory", 25, 40, 0)
ENOUGH = [Row(f"a run of {unit}", unit, least) for unit, least in MINIMUM.items()]


def number(text: str) -> int:
    return int(text.split()[0].replace(",", ""))


def find_faults(report: str) -> Iterator[str]:
    """What keeps a report from being a proof."""
    yield from (pattern for pattern in HEAD if not re.search(pattern, report, re.MULTILINE))
    rows = [line.strip("| ").split(" | ") for line in report.splitlines() if line.startswith("| ")]
    runs = [row for row in rows if len(row) == 9 and row[0] != "run"]
    for unit, least in MINIMUM.items():
        stated = [number(row[1]) for row in rows if row[0] == unit]
        counted = sum(number(row[1]) for row in runs if row[1].partition(" ")[2] == unit)
        if stated != [counted] or counted < least:
            yield unit
    for name, *_, double_effects, lost, _, verdict in runs:
        if (verdict, number(double_effects), number(lost)) != ("clean", 0, 0):
            yield name


def test_the_kept_report_is_a_proof() -> None:
    kept = [FILE.read_text(encoding="utf-8")] if FILE.exists() else []
    for report in (*kept, write_report(ABOUT, ENOUGH)):
        assert list(find_faults(report)) == []


@pytest.mark.parametrize(
    ("about", "rows", "fault"),
    [
        (ABOUT, ENOUGH[1:], "kills"),
        (ABOUT, [replace(ENOUGH[0], lost=1), *ENOUGH[1:]], ENOUGH[0].name),
        (ABOUT, [*ENOUGH, Row("another", "cuts", 3, clean=False)], "another"),
        (replace(ABOUT, commit="unknown"), ENOUGH, HEAD[0]),
        (replace(ABOUT, others_failed=1), ENOUGH, HEAD[3]),
    ],
)
def test_a_report_that_proves_too_little_is_seen(about: About, rows: list[Row], fault: str) -> None:
    assert list(find_faults(write_report(about, rows))) == [fault]
