"""`assent policy`, and the question of a first start."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support import warm_processes
from tests.support.processes.running import (
    ASSENT,
    DEADLINE_SECONDS,
    environment,
    eventually,
    free_port,
    is_healthy,
)


def run(data_dir: Path, *words: str) -> subprocess.CompletedProcess[str]:
    variables = environment({"ASSENT_DATA_DIR": str(data_dir)})
    return warm_processes.run(
        [*ASSENT, *words], env=variables, capture_output=True, text=True, timeout=120, check=False
    )


def read(data_dir: Path, *words: str) -> dict[str, Any]:
    done = run(data_dir, *words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("policy") / "data"
    assert run(made, "init").returncode == 0
    return made


@pytest.mark.parametrize(
    ("command", "text", "said"),
    [
        ("set", "preset = 'relay'\n[[rule]]\nname='x'\nwhen={amout=1}\nask={}", "did you mean amount?"),
        ("check", "preset = 'relax'", "did you mean relay?"),
        ("replay", "preset = ", "is not valid TOML"),
        ("check", "", "preset: this must be one of"),
        (
            "replay",
            "preset = 'relay'\n[[rule]]\nname='x'\nask={people=['eve@example.org']}",
            "eve@example.org",
        ),
    ],
    ids=range(5),
)
def test_a_policy_with_a_mistake_is_named_and_not_set(
    data_dir: Path, tmp_path: Path, command: str, text: str, said: str
) -> None:
    (tmp_path / "bad.toml").write_text(text)
    done = run(data_dir, "policy", command, str(tmp_path / "bad.toml"))
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    if command == "set":
        assert read(data_dir, "policy", "show")["version"] == 0


def test_what_is_neither_a_preset_nor_a_file_is_refused_with_the_presets(data_dir: Path) -> None:
    done = run(data_dir, "policy", "set", "peeple")
    assert done.returncode == 1
    assert "relay, people, two_people" in done.stderr


def test_a_new_workspace_begins_with_the_policy_of_the_settings(tmp_path: Path) -> None:
    variables = environment({"ASSENT_DATA_DIR": str(tmp_path / "data"), "ASSENT_POLICY": "people"})
    for words in (("init",), ("workspace", "create", "north")):
        warm_processes.run([*ASSENT, *words], env=variables, capture_output=True, timeout=120, check=True)
    for workspace in ((), ("--workspace", "north")):
        assert read(tmp_path / "data", "policy", "show", *workspace)["policy"] == {"preset": "people"}


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "preset"), [("2\n", "people"), ("7\n\n", "relay")])
def test_a_first_start_at_a_terminal_asks_who_may_approve(tmp_path: Path, typed: str, preset: str) -> None:
    data_dir, port = tmp_path / "data", free_port()
    variables = environment(
        {"ASSENT_DATA_DIR": str(data_dir), "ASSENT_PORT": str(port), "BROWSER": "true", "CI": "true"}
    )
    master, slave = pty.openpty()
    with warm_processes.Process(
        [*ASSENT, "serve"], env=variables, stdin=slave, stdout=subprocess.DEVNULL, stderr=slave
    ) as process:
        os.close(slave)
        try:
            os.write(master, typed.encode())
            eventually(lambda: is_healthy(port), "the server is healthy")
            assert httpx.get(f"http://127.0.0.1:{port}/", follow_redirects=True).status_code == 200
            os.set_blocking(master, False)
            said = os.read(master, 200_000).decode()
        finally:
            process.kill()
            process.wait(DEADLINE_SECONDS)
            os.close(master)
    assert "Only you, signed in" in said
    assert said.count("Choose 1 or 2") == typed.count("\n")
    found = read(data_dir, "policy", "show")
    assert found["name"].startswith("Only people" if preset == "people" else "Your agent")
