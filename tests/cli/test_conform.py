"""`assent conform` against a real process, and what it says where it cannot check."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import warm_processes
from tests.cli.conftest import Assent
from tests.cli.test_processes import PROGRAM, environment, free_port

from assent.conformance import ALL_CHECKS


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(["ftp://example.com"], "no address of a server", id="another scheme"),
        pytest.param(["example.com"], "no address of a server", id="no scheme"),
        pytest.param(
            ["http://127.0.0.1:1", "--rule", "E999"], "No check from outside looks at E999", id="no rule"
        ),
        pytest.param(["http://127.0.0.1:1"], "No server answers", id="nobody there"),
    ],
)
def test_what_cannot_be_checked_is_said_with_what_to_do(
    assent: Assent, arguments: list[str], told: str
) -> None:
    done = assent("conform", *arguments)
    assert done.code == 1
    assert told in done.err
    assert done.out == ""


@pytest.mark.slow
def test_a_running_server_conforms_with_two_keys_and_without_any(tmp_path: Path) -> None:
    env = {**environment(tmp_path / "data"), "ASSENT_RATE_LIMIT_PER_MINUTE": "10000"}
    port = free_port()

    def run(*words: str, given: str = "") -> tuple[int, Any, str]:
        done = warm_processes.run(
            [*PROGRAM, *words, "--json"], env=env, input=given, capture_output=True, text=True
        )
        return done.returncode, json.loads(done.stdout), done.stderr

    keys = [run("workspace", "create", name)[1]["apiKey"] for name in ("acme", "other")]
    with warm_processes.Process(
        [*PROGRAM, "serve", "--port", str(port)],
        env=env,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        try:
            while "/get-key" not in (line := server.stderr.readline()):
                assert line
            address = f"http://127.0.0.1:{port}"
            code, report, said = run(
                "conform", address, "--key-stdin", "--allow-effects", given="\n".join(keys) + "\n"
            )
            assert (code, report["passed"], report["failed"]) == (0, len(ALL_CHECKS), 0), said
            code, report, _ = run("conform", address)
            assert (code, report["failed"]) == (0, 0)
            assert report["notRun"] > report["passed"] > 0
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=30)
    assert not any(key in said for key in keys)
