"""`assent conform` against real processes, and what it says where it cannot check."""

from __future__ import annotations

import io
import os
import signal
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from packages.conform.tests.system.test_wires import ODD, is_running
from tests.support import warm_processes
from tests.support.cli.fixtures import Assent
from tests.support.processes.running import ASSENT, DEADLINE_SECONDS, eventually

NOBODY = "http://127.0.0.1:1"
KEYS = "clp_live_one\nclp_live_two\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param([], "There is no server to check", id="nothing"),
        pytest.param(["ftp://example.com"], "no address of a server", id="another scheme"),
        pytest.param(["http://"], "no address of a server", id="no host"),
        pytest.param(["http://[::1"], "no address of a server", id="half an address"),
        pytest.param(["http://127.0.0.1:99999"], "no address of a server", id="no such port"),
        pytest.param(["example.com"], "there is no such program", id="no scheme"),
        pytest.param([NOBODY, "more"], "give an address alone", id="words behind an address"),
        pytest.param([NOBODY, "--rule", "E999"], "No check from outside looks at E999", id="no rule"),
        pytest.param([NOBODY], "No server answers", id="nobody there"),
        pytest.param([NOBODY, "--safe", "--allow-effects"], "Give one of the two", id="safe effects"),
        pytest.param([NOBODY, "--timeout", "0"], "out of range", id="no time"),
        pytest.param([NOBODY, "--timeout", "601"], "out of range", id="too much time"),
        pytest.param([NOBODY, "--timeout", "nan"], "out of range", id="no number of seconds"),
        pytest.param(
            [NOBODY, "--key-stdin", "--key-env", "KEY"], "needs a command", id="variable for address"
        ),
        pytest.param(["--key-env", "KEY", "--", *ODD, "fine"], "and --key-stdin", id="variable without key"),
        pytest.param(
            ["--key-stdin", "--key-env", "NO-NAME", "--", *ODD, "fine"],
            "no name of a variable",
            id="bad variable",
        ),
        pytest.param([NOBODY, "--junit", "missing/a.xml"], "cannot be written", id="no folder"),
        pytest.param([NOBODY, "--junit", "."], "no ordinary file", id="a folder"),
        pytest.param(["--", *ODD, "exits"], "ended with exit status 3", id="a command that exits"),
        pytest.param(["--timeout", "1", "--", *ODD, "hangs"], "within 1 s", id="a command that hangs"),
        pytest.param(["--", *ODD, "floods_a_line"], "a line of more than", id="a command that floods"),
        pytest.param(["--", "/"], "no such program", id="a command that is a folder"),
    ],
)
def test_what_cannot_be_checked_is_said_with_what_to_do(
    assent: Assent, arguments: list[str], told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO(KEYS))
    done = assent("conform", *arguments)
    assert done.code == 1
    assert told in done.err
    assert len(done.err.splitlines()) > 1 or done.err.count(". ") >= 1  # what it is, and what to do
    assert done.out == ""
    assert [*tmp_path.glob("*a*")] == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("", "holds no key"),
        ("one\ntwo\nthree\n", "two are used at most"),
        ("clp live one\n", "is no key"),
        ("clp_live_ü\n", "is no key"),
        ("one\none\n", "Both keys are the same"),
    ],
)
def test_a_line_that_is_no_key_is_refused_and_not_shown(
    assent: Assent, given: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(given))
    done = assent("conform", NOBODY, "--key-stdin")
    assert done.code == 1
    assert told in done.err
    assert "Write a workspace's key" in done.err
    assert "clp" not in done.err


def test_the_last_words_of_a_command_are_shown_without_its_key_and_without_control_codes(
    assent: Assent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a-secret-of-another-server\n"))
    done = assent("conform", "--key-stdin", "--key-env", "ODD_KEY", "--", *ODD, "exits")
    assert done.code == 1
    assert r"no database \x1b[31m[hidden]" in done.err


def test_an_option_that_does_not_exist_or_has_no_value_is_a_usage_error(assent: Assent) -> None:
    for arguments in (["--timeout", "soon"], ["--unknown"], ["--junit"]):
        done = assent("conform", NOBODY, *arguments)
        assert done.code == 2
        assert arguments[0] in done.err


def test_a_report_says_what_a_command_fails_in_and_a_server_that_judges_nothing_is_no_success(
    assent: Assent, tmp_path: Path
) -> None:
    junit = tmp_path / "junit.xml"
    done = assent("conform", "--rule", "E81", "--rule", "W75", "--junit", str(junit), "--", *ODD, "talks")
    assert (done.code, done.out) == (1, "1 passed, 1 failed, 0 not run\n")
    assert "FAIL  standard output has messages of the protocol alone  [W75]" in done.err
    (suite,) = ElementTree.parse(junit).getroot()  # noqa: S314 - written by us
    assert [(case.attrib["classname"], [child.tag for child in case]) for case in suite] == [
        ("E81", []),
        ("W75", ["failure"]),
    ]
    done = assent("conform", "--rule", "E76", "--", *ODD, "fine")
    assert (done.code, done.out) == (1, "0 passed, 0 failed, 1 not run\n")
    assert "Nothing was checked" in done.err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_run_that_is_told_to_end_leaves_no_process_and_no_draft(
    tmp_path: Path, number: signal.Signals
) -> None:
    noted = tmp_path / "noted"
    words = ("conform", "--junit", str(tmp_path / "a.xml"), "--", *ODD, "hangs_later", str(noted))
    with warm_processes.Process([*ASSENT, *words], env=dict(os.environ), stderr=subprocess.PIPE) as running:
        eventually(lambda: noted.exists() and len(noted.read_text().split()) == 2, "the check hangs")
        running.send_signal(number)
        code = running.wait(DEADLINE_SECONDS)
    assert code == (130 if number is signal.SIGINT else 143)
    for pid in map(int, noted.read_text().split()):
        eventually(lambda pid=pid: not is_running(pid), "the command has ended")  # type: ignore[misc]
    assert [each.name for each in tmp_path.iterdir()] == ["noted"]
