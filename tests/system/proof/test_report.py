"""The report adds up what the runs counted, says what is missing, and keeps only a run that is large enough."""

from __future__ import annotations

import re
from dataclasses import replace

from proof.report import MINIMUM, About, Row, add_up, find_missing, write_report

ABOUT = About("2026-09-21", "0" * 40, "2 cores, 8 GB of memory", 24.6, 12, 0)
ENOUGH = [Row(f"a run of {unit}", unit, least) for unit, least in MINIMUM.items()]


def test_rows_of_one_name_are_added_up() -> None:
    first = Row("kills", "kills", 3, calls=10, actions=2, effects=1, places={"a": 1}, notes={"c": "P1"})
    both = add_up([first, replace(first, clean=False, lost=1, places={"a": 1, "b": 2}, notes={"d": "P2"})])
    notes = {"c": "P1", "d": "P2"}
    assert both == [
        Row("kills", "kills", 6, 20, 4, 2, lost=1, clean=False, places={"a": 2, "b": 2}, notes=notes),
    ]


def test_what_a_run_has_too_little_of_is_named() -> None:
    assert find_missing(ENOUGH) == []
    less = [replace(row, events=row.events - 1) for row in ENOUGH]
    assert len(find_missing(less)) == len(MINIMUM)
    assert find_missing(ENOUGH[1:]) == ["kills: 0 of 2,000"]


def test_the_report_has_every_count_and_a_verdict() -> None:
    noted = replace(ENOUGH[0], name="broken", clean=False, notes={"key ignored (P3)": "P3, P4"})
    text = write_report(ABOUT, [*ENOUGH, noted])
    assert f"Commit: `{'0' * 40}`" in text
    assert "| kills | 4,000 | 2,000 |" in text
    assert "| a run of failovers | 20 failovers | 0 | 0 | 0 | 0 | 0 | 0 | clean |" in text
    assert "What was seen of broken:\n\n- key ignored (P3): P3, P4\n" in text
    assert re.search(r"^\| broken \|.*\| BROKEN \|$", text, re.MULTILINE)
