"""The challenge: an agent with everything but a person publishes nothing under `people`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.processes.running import environment

SCRIPT = Path(__file__).parents[3] / "examples" / "break_the_gate.py"
ATTACKS = (
    "a valid key",
    "the review link",
    "every tool",
    "a stolen cookie",
    "a page on another port",
    "a claimed sign-up",
    "a server of its own",
    "a shell under another user",
)


def play(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *words],
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.slow
def test_under_people_nothing_is_published_by_any_attack() -> None:
    done = play()
    assert done.returncode == 0, done.stdout + done.stderr
    lines = {line[:28].strip(): line[28:].strip() for line in done.stdout.splitlines()}
    assert [name for name in ATTACKS if name not in lines] == []
    assert "person's key" in lines["a stolen cookie"]
    assert "person's key" in lines["a page on another port"]


@pytest.mark.slow
def test_the_challenge_notices_a_policy_that_an_agent_can_satisfy() -> None:
    done = play("relay")
    assert done.returncode == 1
    assert "BROKEN: with a valid key" in done.stdout
