"""Prints at the end of a run how long each folder of tests took, so that a slow one is seen before it hurts."""

from __future__ import annotations

from collections import Counter

import pytest

SHOWN_FROM = 100
"""Tests: the times of a few are not worth a table."""


class FolderTimes:
    """Adds up set-up, test and tear-down of every test by its folder."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        folder = report.nodeid.partition("::")[0].rpartition("/")[0]
        self.seconds[folder] += report.duration  # type: ignore[assignment]
        self.tests[folder] += report.when == "call"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.tests.total() < SHOWN_FROM:
            return
        terminalreporter.section("time per folder")
        for folder, seconds in self.seconds.most_common():
            terminalreporter.write_line(f"{seconds:8.1f} s  {self.tests[folder]:5} tests  {folder}")
        terminalreporter.write_line(f"{self.seconds.total():8.1f} s  {self.tests.total():5} tests  together")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FolderTimes(), "folder-times")
