"""A server process with operators of a stranger: good ones work, bad ones are named where people look."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.processes.running import ASSENT, Serve, StdioClient, environment, free_port
from tests.support.warm_processes import run

GOOD = '''
import assent

print("a stranger writes to standard output")
bell = assent.Operator("bell", label="Bell")

@bell.effect(risk="low")
def ring(times: int) -> assent.Receipt:
    """Ring the bell. USE WHEN the user wants to be heard."""
    print("ringing")
    return assent.Receipt("rung", output={"times": times})
'''


@pytest.fixture
def named(tmp_path: Path) -> str:
    """A file that works, one that raises and one that is not there, as the setting has them."""
    (tmp_path / "bell.py").write_text(GOOD)
    (tmp_path / "broken.py").write_text("raise RuntimeError('no')\n")
    return f"{tmp_path}/bell.py, {tmp_path}/broken.py,{tmp_path}/gone.py"


def names_of(listed: dict[str, Any]) -> set[str]:
    return {tool["name"] for tool in listed["result"]["tools"]}


def test_a_stdio_process_offers_and_performs_the_operator_and_keeps_its_output_clean(
    tmp_path: Path, named: str
) -> None:
    settings = {"ASSENT_OPERATORS": named, "ASSENT_PORT": str(free_port())}
    with StdioClient(tmp_path / "data", settings) as client:
        client.ask("initialize", {})
        assert "bell_ring" in names_of(client.ask("tools/list"))
        action = client.call("bell_ring", times=2)["actions"][0]
        client.call("chieflab_approve_action", actionId=action["id"])
        done = client.call("chieflab_execute_approved_action", actionId=action["id"])
        assert done["output"] == {"times": 2}
        assert client.end() == 0
    assert all(line.startswith(b'{"jsonrpc"') for line in client.seen)
    assert "broken.py is left out" in client.log
    assert "gone.py is left out" in client.log


def test_flags_name_operators_and_doctor_names_the_bad_ones(tmp_path: Path, named: str) -> None:
    bell, broken, _ = (each.strip() for each in named.split(","))
    flags = ("--operators", bell, "--operators", broken)
    with StdioClient(tmp_path / "data", {"ASSENT_PORT": str(free_port())}, flags=flags) as client:
        assert "bell_ring" in names_of(client.ask("tools/list"))
    done = run(
        [*ASSENT, "doctor", "--json", "--data-dir", str(tmp_path / "data"), *flags],
        env=environment({"ASSENT_PORT": str(free_port())}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    found = [each for each in json.loads(done.stdout)["checks"] if each["name"] == "operators"]
    assert [each["ok"] for each in found] == [False, True]
    assert "raised RuntimeError: no" in found[0]["fix"]
    assert "bell (file" in found[1]["detail"]
    assert done.returncode == 1


@pytest.mark.slow
def test_a_served_operator_is_named_at_the_start_and_the_server_conforms(tmp_path: Path, named: str) -> None:
    settings = {"ASSENT_OPERATORS": named, "ASSENT_RATE_LIMIT_PER_MINUTE": "10000"}
    with Serve(tmp_path / "data", settings) as server:
        made = [*ASSENT, "keys", "create", "--json", "--data-dir", str(tmp_path / "data")]
        more = [*ASSENT, "workspace", "create", "acme", "--json", "--data-dir", str(tmp_path / "data")]
        keys = [
            json.loads(run(each, env=environment({}), capture_output=True, check=True).stdout)["apiKey"]
            for each in (made, more)
        ]
        for headers, listed in (({}, False), ({"Authorization": f"Bearer {keys[0]}"}, True)):
            metadata = httpx.get(f"{server.base_url}/.well-known/mcp.json", headers=headers).json()
            assert ("bell" in [each["id"] for each in metadata["operators"]]) is listed
        done = run(
            [*ASSENT, "conform", server.base_url, "--key-stdin", "--json"],
            env=environment({}),
            input="\n".join(keys),
            capture_output=True,
            text=True,
            timeout=120,
        )
        report = json.loads(done.stdout)
        assert [each for each in report["outcomes"] if each["status"] == "failed"] == []
        assert done.returncode == 0
    assert "Operator bell: bell_ring" in server.log
    assert "LEFT OUT: file" in server.log


def test_an_installed_package_is_loaded_once_the_settings_name_it(tmp_path: Path) -> None:
    """As `pip install` leaves it: a module and its metadata beside it, here with an entry point."""
    (tmp_path / "bell.py").write_text(GOOD)
    info = tmp_path / "bell_operator-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bell-operator\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[assent.operators]\nbell = bell:bell\n")
    settings = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "ASSENT_PORT": str(free_port())}
    with StdioClient(tmp_path / "data", settings) as client:
        assert "bell_ring" not in names_of(client.ask("tools/list"))
    with StdioClient(tmp_path / "data", {**settings, "ASSENT_OPERATORS": "bell"}) as client:
        assert "bell_ring" in names_of(client.ask("tools/list"))
