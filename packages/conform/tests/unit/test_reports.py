"""Reports in files: JUnit XML that any reader takes, and whole files or none."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from assent_conform.checks.checking import CheckOutcome, ConformanceReport, Status, make_printable
from assent_conform.checks.reports import ReportFile, UnwritableReport, encode_junit

ODD_TEXT = "<&\"'>]]> \x00\x1b[31m\x07\r\n\t \ud800 \ufffe ünïcödé 🎉 &amp;"


def outcome(name: str, status: Status, detail: str | None = None) -> CheckOutcome:
    return CheckOutcome(name, f"the title of {name}", ("E5", "W12"), status, 0.25, detail)


def report_of(*outcomes: CheckOutcome, server: str = "http://127.0.0.1:8080") -> ConformanceReport:
    count = Counter(each.status for each in outcomes)
    ok = count["failed"] == 0
    return ConformanceReport(server, ok, count["passed"], count["failed"], count["not_run"], outcomes)


def test_junit_has_a_case_for_each_check_with_its_rules_and_its_outcome() -> None:
    report = report_of(
        outcome("one", "passed"),
        outcome("two", "failed", "found 3"),
        outcome("three", "not_run", "needs a key"),
    )
    root = ElementTree.fromstring(encode_junit(report))  # noqa: S314 - written here
    (suite,) = root
    assert root.tag == "testsuites"
    assert suite.attrib == {
        "name": "http://127.0.0.1:8080",
        "tests": "3",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
        "time": "0.750",
    }
    assert [case.attrib["classname"] for case in suite] == ["E5 W12"] * 3
    assert suite[0].attrib["name"] == "one: the title of one"
    assert [[child.tag for child in case] for case in suite] == [[], ["failure"], ["skipped"]]
    (failure,) = suite[1]
    assert (failure.attrib["message"], failure.text) == ("found 3", "found 3")
    assert suite[2][0].attrib == {"message": "needs a key"}


def test_a_report_is_valid_whatever_a_server_answered() -> None:
    """A run makes every detail printable; here each place of the report has the worst text."""
    shown = make_printable(ODD_TEXT)
    report = report_of(outcome("one", "failed", shown), outcome("two", "not_run", shown), server=shown)
    (suite,) = ElementTree.fromstring(encode_junit(report))  # noqa: S314 - written here
    assert suite.attrib["name"] == shown
    assert suite[0][0].text == suite[0][0].attrib["message"] == suite[1][0].attrib["message"] == shown
    assert r"\x00\x1b[31m\x07\r\n\t \ud800 \ufffe ünïcödé 🎉" in shown


def test_a_file_is_replaced_as_a_whole_and_an_abandoned_one_leaves_nothing(tmp_path: Path) -> None:
    path, link = tmp_path / "report.xml", tmp_path / "link.xml"
    path.write_text("before")
    link.symlink_to(path)
    abandoned = ReportFile(path)
    abandoned.drop()
    assert path.read_text() == "before"
    kept = ReportFile(link)
    with path.open() as earlier:
        kept.write(b"after")
        assert earlier.read() == "before"  # another file took its place
    kept.drop()
    assert path.read_text() == "after"
    assert link.is_symlink()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.xml", "report.xml"]


@pytest.mark.parametrize("name", ["missing/report.xml", "folder", "pipe", "file/report.xml", "x" * 300])
def test_a_path_that_cannot_be_written_is_refused_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnwritableReport):
        ReportFile(tmp_path / name)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "folder", "pipe"]


def test_a_file_that_can_no_longer_be_written_keeps_its_earlier_content(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "report.xml"
    path.parent.mkdir()
    path.write_text("before")
    file = ReportFile(path)
    file.drop()
    path.parent.rename(tmp_path / "moved")
    with pytest.raises(UnwritableReport, match="No such file"):
        file.write(b"after")
    assert (tmp_path / "moved" / "report.xml").read_text() == "before"
