"""The first call of its kind does not hold up the others: what it needs was loaded before."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("jsonschema", "assent_launch.channels", "re2")


@pytest.mark.slow
def test_the_first_calls_of_a_server_load_nothing_large_on_the_event_loop(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.processes.first_use", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    told = json.loads(done.stdout)

    assert [name for name in told["loaded"] if name.startswith(HEAVY)] == []
    assert told["heldMs"] < 50, told
