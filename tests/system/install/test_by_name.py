"""What a person types who has only the name: from a directory of packages alone, offline, in an empty home."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from tests.support.processes.running import eventually, free_port, is_healthy
from tests.support.wheel import ROOT, find_uv, run_uv

from assent import __version__
from assent.kernel.distribution import DISTRIBUTION

pytestmark = pytest.mark.slow

MOST_SECONDS = 60


@pytest.fixture(scope="module")
def index(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the release and every locked dependency, and with pip, which pipx installs first."""
    folder = tmp_path_factory.mktemp("index")
    for path in wheels.glob("*.whl"):
        shutil.copy(path, folder)
    download = ("tool", "run", "pip", "download", "--only-binary", ":all:", "--no-deps", "--dest", folder)
    run_uv(*download, "--require-hashes", "--requirement", ROOT / "requirements.lock")
    run_uv(*download, "pip")
    return folder


def offline(home: Path, index: Path) -> dict[str, str]:
    home.mkdir()
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(index),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(index),
    }


@pytest.mark.rule("E25", "E29")
def test_uvx_plays_the_demo_by_name_and_it_tells_that_it_happened_once_in_under_a_minute(
    tmp_path: Path, index: Path
) -> None:
    began = time.monotonic()
    done = subprocess.run(
        [find_uv(), "tool", "run", "--from", DISTRIBUTION, "assent", "demo"],
        env=offline(tmp_path / "home", index),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < MOST_SECONDS
    assert done.stdout == "It happened once.\n"
    told = done.stderr
    # In this order: refused before the approval, approved, killed, found by asking, refused after the rewind.
    steps = [
        told.index(each)
        for each in (
            "Status: awaiting_approval",
            "Refused: requires_approval",
            "Approved: ",
            "kill -9",
            "It is: executed, reference notice-1. Requests to the board: 1.",
            "chieflab_approve_action: refused, action_closed",
            "chieflab_execute_approved_action: refused, ",
            "Notices on the board: 1. Requests that it got: 1.",
            "board_post: executed, approved by ",
        )
    ]
    assert steps == sorted(steps)
    assert "Traceback" not in told and "ERROR" not in told


def test_uvx_serves_by_name(tmp_path: Path, index: Path) -> None:
    port = free_port()
    with subprocess.Popen(
        [find_uv(), "tool", "run", DISTRIBUTION, "serve", "--port", str(port), "--no-open"],
        env=offline(tmp_path / "home", index),
        stdin=subprocess.DEVNULL,
    ) as server:
        try:
            eventually(lambda: is_healthy(port), "the server is healthy")
        finally:
            server.terminate()
    assert (tmp_path / "home/.local/share/assent/assent.db").exists()


def test_pipx_installs_both_commands_by_name(tmp_path: Path, index: Path) -> None:
    run_uv("venv", tmp_path / "pipx")
    run_uv("pip", "install", "--python", tmp_path / "pipx", "pipx")
    environment = offline(tmp_path / "home", index)

    subprocess.run(
        [tmp_path / "pipx/bin/pipx", "install", DISTRIBUTION],
        env=environment,
        capture_output=True,
        check=True,
    )

    for command in ("assent", DISTRIBUTION):
        program = tmp_path / "home/.local/bin" / command
        shown = subprocess.run(
            [program, "--version"], env=environment, capture_output=True, text=True, check=True
        )
        assert shown.stdout == f"assent {__version__}\n"
