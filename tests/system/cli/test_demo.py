"""`assent demo` as somebody types it: a process of its own, its words, its numbers, and nothing left behind."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

MOST_SECONDS: Final = 60
COMMAND: Final = (sys.executable, "-m", "assent")


def play(home: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run the demo with a home of its own and no settings of whoever runs the tests."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ASSENT_", "RUN_TOKEN_", "XDG_"))
    }
    environment = {**kept, "HOME": str(home), "TMPDIR": str(home)}
    return subprocess.run(
        [*COMMAND, "demo", *flags],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=2 * MOST_SECONDS,
        check=False,
    )


@pytest.mark.slow
def test_the_demos_result_for_programs_is_one_object_and_its_server_is_gone(tmp_path: Path) -> None:
    done = play(tmp_path, "--json")

    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["ok"], result["posts"]) == (True, 1)
    assert result["steps"] == len(re.findall(r"^\d+\. ", done.stderr, re.MULTILINE)) > 0
    ports = re.findall(r"http://127\.0\.0\.1:(\d+)", done.stderr)
    assert len(ports) == 2
    for port in ports:
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", int(port))) != 0
    # No database, no key and no directory stays behind.
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
