"""The official conformance suite, in both requirement sets, against the real server.

The suite itself compares each run with a committed baseline and fails on anything unexpected, better or worse.
Here it is held to more: the scenarios that apply to Assent must have passed, and a baseline entry has a reason.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import msgspec
import pytest
from tests.support.interop.clients import LEGACY, MODERN, PACKAGES, ROOT, run_node
from tests.support.interop.running import Served, serving

pytestmark = pytest.mark.interop

SUITE = str(PACKAGES / "@modelcontextprotocol/conformance/dist/index.js")
BASELINES = Path(__file__).with_name("conformance")

APPLICABLE = {
    LEGACY: {"server-initialize", "ping", "tools-list", "dns-rebinding-protection"},
    MODERN: {
        "tools-list",
        "dns-rebinding-protection",
        "http-header-validation",
        "input-required-result-unsupported-methods",
    },
}

APPLICABLE_WITH_DIAGNOSTIC_TOOLS = {
    LEGACY: APPLICABLE[LEGACY],
    MODERN: APPLICABLE[MODERN]
    | {
        "server-stateless",
        "caching",
        "input-required-result-tampered-state",
        "input-required-result-capability-check",
    },
}

each_revision = pytest.mark.parametrize("revision", [LEGACY, MODERN])


class Check(msgspec.Struct, frozen=True):
    id: str
    status: str


class Run(msgspec.Struct, frozen=True):
    """One run of the suite: how it ended, what it printed, and every check by scenario."""

    status: int
    report: str
    checks: dict[str, tuple[Check, ...]]

    @property
    def passed(self) -> set[str]:
        return {
            scenario
            for scenario, checks in self.checks.items()
            if any(check.status == "SUCCESS" for check in checks)
            and not any(check.status == "FAILURE" for check in checks)
        }


def run_suite(server: Served, revision: str, results: Path, *options: str) -> Run:
    done = run_node(
        SUITE, "server", "--url", server.mcp_url, "--requirements", revision, "-o", str(results), *options
    )
    checks = {
        # server-<scenario>-<time of the run>
        re.sub(r"^server-|-\d{4}-\d{2}-\d{2}T[\d-]+Z$", "", file.parent.name): msgspec.json.decode(
            file.read_bytes(), type=tuple[Check, ...]
        )
        for file in results.glob("*/checks.json")
    }
    _, _, summary = done.stdout.partition("=== SUMMARY ===")
    return Run(done.returncode, summary + done.stderr, checks)


@pytest.mark.slow
@pytest.mark.usefixtures("node_program")
@each_revision
def test_the_server_passes_what_applies_to_it_and_nothing_differs_from_the_baseline(
    revision: str, served: Served, tmp_path: Path
) -> None:
    run = run_suite(served, revision, tmp_path, "--expected-failures", str(BASELINES / f"{revision}.yml"))

    assert APPLICABLE[revision] <= run.passed, run.report
    assert run.status == 0, run.report


@pytest.mark.slow
@pytest.mark.usefixtures("node_program")
@each_revision
def test_the_same_stack_passes_what_only_diagnostic_tools_can_try(
    revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    command = (sys.executable, "-m", "tests.support.interop.diagnostic_server")
    with serving(tmp_path / "data", command) as server:
        run = run_suite(server, revision, tmp_path / "results")

    assert APPLICABLE_WITH_DIAGNOSTIC_TOOLS[revision] <= run.passed, run.report


@each_revision
def test_every_baseline_entry_stands_under_its_reason(revision: str) -> None:
    _, _, entries = (BASELINES / f"{revision}.yml").read_text().partition("server:\n")

    for group in entries.strip("\n").split("\n\n"):
        assert group.lstrip().startswith("# "), f"no reason for:\n{group}"
