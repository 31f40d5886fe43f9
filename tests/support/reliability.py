"""Collects what the fault programme counted, from any worker, and writes the report at the end of `make prove`.

A test takes the fixture `prove` and gives it a row. A test marked `prove` may also use pytest's own `record_property`
with the name of a unit of `proof.report.MINIMUM`, such as "failovers", or of a count, such as "calls", and a number.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from proof.checker import Verdict
from proof.report import MINIMUM, About, Row, add_up, find_missing, write_report
from tests.support.effort import PROVE

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "RELIABILITY.md"
SHORT = ROOT / ".reliability.md"
"""The report of a run that is too short to be kept."""
PROPERTY = "proof row"
COUNTS = ("calls", "actions", "effects", "double_effects", "lost", "unresolved")


class Prove:
    """Gives rows to the report."""

    def __init__(self, properties: list[tuple[str, object]]) -> None:
        self._properties = properties

    def row(
        self,
        name: str,
        unit: str,
        events: int,
        verdict: Verdict | None = None,
        *,
        places: Mapping[str, int] | None = None,
        notes: Mapping[str, str] | None = None,
        **counts: int,
    ) -> None:
        """Count events, and what the judge saw of them."""
        if verdict is not None:
            counts |= {each: getattr(verdict, each) for each in COUNTS}
        clean = verdict is None or verdict.clean
        seen = dict(notes or {})
        row = Row(name, unit, events, clean=clean, places=dict(places or {}), notes=seen, **counts)
        self._properties.append((PROPERTY, json.dumps(asdict(row))))


@pytest.fixture
def prove(request: pytest.FixtureRequest) -> Prove:
    return Prove(request.node.user_properties)


class Report:
    """The rows of a run, in the process that distributes the tests."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.passed: set[str] = set()
        self.failed: set[str] = set()
        self._begun = time.monotonic()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if "prove" not in report.keywords:
            return
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)
        if report.when == "call":
            rows = _read_rows(report)
            self.rows += [replace(row, clean=row.clean and report.passed) for row in rows]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.rows:
            return
        minutes = (time.monotonic() - self._begun) / 60
        about = About(
            datetime.now(UTC).date().isoformat(),
            name_commit(),
            describe_machine(),
            minutes,
            len(self.passed - self.failed),
            len(self.failed),
        )
        rows = sorted(self.rows, key=lambda row: row.name)
        missing = find_missing(add_up(rows))
        path = SHORT if missing or self.failed else REPORT
        path.write_text(write_report(about, rows), encoding="utf-8")
        terminalreporter.section("fault programme")
        for row in add_up(rows):
            terminalreporter.write_line(f"{row.events:>9,} {row.unit}  {row.name}")
        for line in missing:
            terminalreporter.write_line(f"too little to be kept: {line}")
        terminalreporter.write_line(f"The report is in {path.name}.")


def _read_rows(report: pytest.TestReport) -> list[Row]:
    """The rows that a test gave, or else one for each unit that it counted, with the numbers beside it."""
    given = [Row(**json.loads(str(value))) for name, value in report.user_properties if name == PROPERTY]
    told = {name.replace(" ", "_"): value for name, value in report.user_properties if isinstance(value, int)}
    name = report.nodeid.rpartition("::")[2].removeprefix("test_").replace("_", " ")
    beside = {each: told[each] for each in COUNTS if each in told}
    units = [unit for unit in MINIMUM if unit.replace(" ", "_") in told]
    for number, unit in enumerate(units):
        counts: dict[str, Any] = beside if number == 0 else {}
        given.append(Row(name, unit, told[unit.replace(" ", "_")], **counts))
    return given


def name_commit() -> str:
    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "packages")
    return (git("rev-parse", "HEAD") or "unknown") + (" with changes" if changed else "")


def describe_machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GB of memory"


def pytest_configure(config: pytest.Config) -> None:
    if PROVE and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(), "reliability-report")
