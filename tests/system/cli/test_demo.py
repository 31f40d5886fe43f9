"""`assent demo` as somebody types it: a process of its own, its words, its numbers, and nothing left behind."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

MOST_SECONDS: Final = 60
COMMAND: Final = (sys.executable, "-m", "assent")
PUBLISHED: Final = re.compile(r"Published at (http://127\.0\.0\.1:(\d+)/feed/[0-9a-f-]{36}/[a-z0-9-]+)")


def play(
    home: Path, *flags: str, command: tuple[str, ...] = COMMAND
) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run the demo with a home of its own and no settings of whoever runs the tests."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ASSENT_", "RUN_TOKEN_", "XDG_"))
    }
    environment = {**kept, "HOME": str(home), "TMPDIR": str(home)}
    began = time.monotonic()
    done = subprocess.run(
        [*command, "demo", *flags],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=2 * MOST_SECONDS,
        check=False,
    )
    return done, time.monotonic() - began


@pytest.mark.slow
@pytest.mark.rule("E9", "E25", "E29", "E33", "E100")
def test_the_wheel_in_an_empty_environment_closes_the_loop_in_under_a_minute(
    tmp_path: Path, wheel: Path
) -> None:
    done, seconds = play(tmp_path, command=(str(wheel / "assent"),))

    assert done.returncode == 0, done.stderr
    assert seconds < MOST_SECONDS
    assert done.stdout == "The loop is closed.\n"
    told = done.stderr
    # In this order: refused before approval, approved, published, read by three, measured, remembered, used.
    steps = [
        told.index(each)
        for each in (
            "Staged as site_publish, status awaiting_approval",
            "Refused: requires_approval",
            "Stored: approved with assurance 'agent'",
            "Published at ",
            "'views': 3",
            "Next move: ",
            "Rejected: ",
            "Shaped by memories of: ",
            "site_publish: executed by ",
        )
    ]
    assert steps == sorted(steps)
    # Three visits were counted, so the printed page was there; two publishes at once left one of them.
    assert len(PUBLISHED.findall(told)) == 1
    assert told.count("site_publish: executed") == 1
    assert "rejection" in told[told.index("Shaped by memories of: ") :].splitlines()[0]
    assert "Traceback" not in told and "ERROR" not in told


@pytest.mark.slow
def test_the_demos_result_for_programs_is_one_object_and_its_server_is_gone(tmp_path: Path) -> None:
    done, _ = play(tmp_path, "--json")

    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["ok"] is True
    assert result["steps"] == len(re.findall(r"^\d+\. ", done.stderr, re.MULTILINE)) > 0
    found = PUBLISHED.search(done.stderr)
    assert found is not None
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(found.group(2)))) != 0
    # No database, no key and no directory stays behind.
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
