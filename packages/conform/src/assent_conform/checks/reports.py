"""The report for other programs: JUnit XML, in a file that is written as a whole or not at all.

A file is reserved before the checks run, so that a path that cannot be written is found at once.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from assent_conform.checks.checking import CheckOutcome, ConformanceReport

SUITE: Final = "assent conform"


class UnwritableReport(Exception):  # noqa: N818 - a state of the world
    """A report cannot be written there. The message says why."""


class ReportFile:
    """A path, and a draft beside it that replaces it in one step."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = Path(os.path.realpath(path))
        try:
            if self._path.exists() and not self._path.is_file():
                raise UnwritableReport("it is no ordinary file")
            if self._path.exists() and not os.access(self._path, os.W_OK):
                raise UnwritableReport("it is write-protected")
            self._draft = self._path.with_name(f"{self._path.name}.{os.getpid()}")
            self._draft.open("xb").close()
        except OSError as error:
            raise UnwritableReport(error.strerror or str(error)) from error

    def write(self, content: bytes) -> None:
        """Put the content in place. Raises `UnwritableReport` and leaves an earlier file as it was."""
        try:
            self._draft.write_bytes(content)
            self._draft.replace(self._path)
        except OSError as error:
            raise UnwritableReport(error.strerror or str(error)) from error

    def drop(self) -> None:
        """Remove the draft, if it is still there."""
        with contextlib.suppress(OSError):
            self._draft.unlink(missing_ok=True)


def encode_junit(report: ConformanceReport) -> bytes:
    """Return JUnit XML: a test case for each check, its class name the rules that it covers."""
    counts = {
        "tests": str(len(report.outcomes)),
        "failures": str(report.failed),
        "errors": "0",
        "skipped": str(report.not_run),
        "time": f"{sum(each.seconds for each in report.outcomes):.3f}",
    }
    root = ElementTree.Element("testsuites", {"name": SUITE, **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": report.server, **counts})
    for each in report.outcomes:
        _add_case(suite, each)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _add_case(suite: ElementTree.Element, outcome: CheckOutcome) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "classname": " ".join(outcome.rules),
            "name": f"{outcome.name}: {outcome.title}",
            "time": f"{outcome.seconds:.3f}",
        },
    )
    detail = outcome.detail or ""
    if outcome.status == "failed":
        ElementTree.SubElement(case, "failure", {"message": detail}).text = detail
    elif outcome.status == "not_run":
        ElementTree.SubElement(case, "skipped", {"message": detail})
