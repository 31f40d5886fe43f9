"""Servers of other makers behind the gate, over real processes: npm filesystem and memory, PyPI mcp-server-git.

One `assent serve` for all of these tests. Agents reach it by `assent wrap` and over HTTP, in both eras."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import mcp
import msgspec
import pytest
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from packages.core.tests.system.review.test_owner_link import signed_in
from tests.support.interop.clients import PACKAGES, node
from tests.support.processes.running import ASSENT, Serve, StdioClient, environment, eventually, free_port
from tests.support.review.kit import form
from tests.support.wrap.kit import said

from assent.engine.core.tenancy import LOCAL_WORKSPACE

pytestmark = [pytest.mark.slow, pytest.mark.interop]
NO_NODE = "Node 22 and the MCP tools for it are not installed (make test brings them where npm is there)"
GIT = str(Path(sys.executable).with_name("mcp-server-git"))
FOREIGN = Path(__file__).parents[5] / "tests/support/wrap/foreign_server.py"
AT_ONCE = {"ASSENT_UNDO_SECONDS": "0"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "agent", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def filesystem(folder: Path) -> list[str]:
    program = node()
    if program is None:
        pytest.skip(NO_NODE)
    return [program, str(PACKAGES / "@modelcontextprotocol/server-filesystem/dist/index.js"), str(folder)]


class Deployment:
    """The server, its people, and the folder that the wrapped servers work on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        subprocess.run(["git", "init", "-q", str(self.folder)], check=True)
        program = filesystem(self.folder)
        memory = [program[0], str(PACKAGES / "@modelcontextprotocol/server-memory/dist/index.js")]
        servers = {
            "files": {"command": program[0], "args": program[1:]},
            "memory": {
                "command": memory[0],
                "args": memory[1:],
                "env": {"MEMORY_FILE_PATH": str(folder / "memory.json")},
            },
            "git": {"command": GIT, "args": ["-r", str(self.folder)]},
        }
        self.config, self.rules = folder / "mcp.json", folder / "rules.toml"
        self.config.write_text(json.dumps({"mcpServers": servers}))
        self.rules.write_text("[files]\ntrusted = true\n[memory]\ntrusted = true\n[git]\ntrusted = true\n")
        self.data_dir = folder / "data"
        settings = {
            "ASSENT_WRAP_CONFIG": str(self.config),
            "ASSENT_WRAP_RULES": str(self.rules),
            "ASSENT_WRAP_WORKSPACES": LOCAL_WORKSPACE,
            "ASSENT_RATE_LIMIT_PER_MINUTE": "100000",
            "ASSENT_PAGE_LIMIT_PER_MINUTE": "100000",
            **AT_ONCE,
        }
        self.server = Serve(self.data_dir, settings)
        self.key = self.run("keys", "create")["apiKey"]

    def run(self, *words: str) -> dict[str, Any]:
        return run_command(self.data_dir, self.server.port, *words)


def run_command(data_dir: Path, port: int, *words: str) -> dict[str, Any]:
    variables = environment({"ASSENT_DATA_DIR": str(data_dir), "ASSENT_PORT": str(port)})
    done = subprocess.run(
        [*ASSENT, *words, "--json"], env=variables, capture_output=True, check=True, timeout=60
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def approve(base_url: str, link: str, action: dict[str, Any]) -> None:
    """Approve on the page, as the signed-in owner."""
    with signed_in(link) as browser:
        page = browser.get(f"{base_url}/runs/{action['runId']}").text
        wanted = form(page, action["id"], "approve")
        assert browser.post(base_url + wanted.address, data=wanted.fields).status_code == 303


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    made = Deployment(tmp_path_factory.mktemp("deployment"))
    try:
        yield made
    finally:
        made.server.terminate()


class StdioAgent:
    """An agent whose client started `assent wrap`."""

    def __init__(self, deployment: Deployment, modern: bool) -> None:
        self._modern = modern
        flags = ("--config", str(deployment.config), "--rules", str(deployment.rules))
        self.client = StdioClient(deployment.data_dir, flags=flags, subcommand="wrap")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return dict(self.client.ask("tools/call", self._params(tool, arguments))["result"])

    def start(self, tool: str, **arguments: Any) -> None:
        message = {
            "jsonrpc": "2.0",
            "id": "x",
            "method": "tools/call",
            "params": self._params(tool, arguments),
        }
        self.client.write(json.dumps(message).encode() + b"\n")

    def _params(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"name": tool, "arguments": arguments, **({"_meta": ENVELOPE} if self._modern else {})}

    def kill(self) -> None:
        self.client.__exit__()


class HttpAgent:
    """An agent with a key."""

    def __init__(self, deployment: Deployment, modern: bool) -> None:
        self._modern = modern
        self._house = deployment
        self._open: http.client.HTTPConnection | None = None

    def _post(self, tool: str, arguments: dict[str, Any]) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", self._house.server.port, timeout=60)
        params = {"name": tool, "arguments": arguments, **({"_meta": ENVELOPE} if self._modern else {})}
        headers = {
            "Authorization": f"Bearer {self._house.key}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if self._modern:
            headers |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        connection.request("POST", "/api/mcp", body, headers)
        return connection

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        connection = self._post(tool, arguments)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return dict(answer["result"])

    def start(self, tool: str, **arguments: Any) -> None:
        self._open = self._post(tool, arguments)

    def kill(self) -> None:
        if self._open is not None:
            self._open.close()


def pending(agent: StdioAgent | HttpAgent) -> list[dict[str, Any]]:
    found = agent.call("chieflab_list_pending_actions")["structuredContent"]["actions"]
    return [agent.call("chieflab_get_action", actionId=each["id"])["structuredContent"] for each in found]


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
@pytest.mark.parametrize("make", [StdioAgent, HttpAgent], ids=["stdio", "http"])
def test_reads_pass_and_a_write_survives_its_agent_and_is_made_once(
    deployment: Deployment, make: Callable[[Deployment, bool], StdioAgent | HttpAgent], modern: bool
) -> None:
    name = f"{make.__name__}-{modern}"
    target = deployment.folder / f"{name}.txt"
    writes: list[tuple[str, dict[str, Any], Callable[[], bool]]] = [
        ("write_file", {"path": str(target), "content": "approved"}, target.exists),
        (
            "create_entities",
            {"entities": [{"name": name, "entityType": "thing", "observations": ["seen"]}]},
            lambda: name in (deployment.folder.parent / "memory.json").read_text(),
        ),
        (
            "git_add",
            {"repo_path": str(deployment.folder), "files": [target.name]},
            lambda: (
                target.name
                in subprocess.check_output(["git", "-C", str(deployment.folder), "ls-files"], text=True)
            ),
        ),
    ]
    reader = make(deployment, modern)
    assert str(deployment.folder) in said(reader.call("list_allowed_directories"))
    assert not reader.call("read_graph").get("isError")
    assert not reader.call("git_status", repo_path=str(deployment.folder)).get("isError")
    for tool, arguments, happened in writes:
        agent = make(deployment, modern)
        agent.start(tool, **arguments)
        (action,) = eventually(lambda: pending(reader), "the call waits")
        assert action["type"].endswith(tool)
        agent.kill()
        approve(deployment.server.base_url, deployment.run("owner-link")["url"], action)
        shown = reader.call("chieflab_get_action", actionId=action["id"], waitSeconds=20)["structuredContent"]
        assert shown["status"] == "executed", shown
        assert shown["result"]["output"]["content"] and happened()
        assert pending(reader) == []
    assert target.read_text() == "approved"
    reader.kill()


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_real_clients_list_the_tools_and_read_over_both_transports(
    deployment: Deployment, mode: str, version: str
) -> None:
    async def talk(server: Any) -> None:
        async with mcp.Client(server, mode=mode, read_timeout_seconds=60) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"write_file", "create_entities", "git_commit", "chieflab_get_action"} <= names
            assert len([each for each in names if each.startswith("chieflab_")]) == 6
            found = await client.call_tool("list_allowed_directories", {})
            assert str(deployment.folder) in str(found.content) and client.protocol_version == version

    async def both() -> None:
        words = [
            "wrap",
            "--data-dir",
            str(deployment.data_dir),
            "--config",
            str(deployment.config),
            "--rules",
            str(deployment.rules),
        ]
        await talk(StdioServerParameters(command=ASSENT[0], args=words, env=environment({})))
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {deployment.key}"}) as http_client:
            await talk(
                streamable_http_client(f"{deployment.server.base_url}/api/mcp", http_client=http_client)
            )

    asyncio.run(both())


def test_a_gated_call_over_http_answers_with_the_link_at_once_and_its_wait_with_the_decision(
    deployment: Deployment,
) -> None:
    agent, target = HttpAgent(deployment, modern=False), deployment.folder / "never.txt"
    asked = agent.call("write_file", path=str(target), content="x")
    (action,) = pending(agent)
    assert asked["isError"] and f"/runs/{action['runId']}" in said(asked)
    agent.call("chieflab_reject_action", actionId=action["id"], reason="Seen enough.")
    shown = agent.call("chieflab_get_action", actionId=action["id"], waitSeconds=20)
    assert shown["structuredContent"]["status"] == "rejected" and "Seen enough." in said(shown)
    assert not target.exists()


def test_a_call_passed_on_over_http_streams_its_progress(tmp_path: Path) -> None:
    world, config, rules = tmp_path / "world", tmp_path / "mcp.json", tmp_path / "rules.toml"
    world.mkdir()
    (world / "wants.json").write_text(json.dumps({"on_call": {"look": "progress"}}))
    notes = {"command": sys.executable, "args": ["-I", str(FOREIGN), str(world)]}
    config.write_text(json.dumps({"mcpServers": {"notes": notes}}))
    rules.write_text("[notes]\ntrusted = true\n")
    settings = {
        "ASSENT_WRAP_CONFIG": str(config),
        "ASSENT_WRAP_RULES": str(rules),
        "ASSENT_WRAP_WORKSPACES": LOCAL_WORKSPACE,
    }
    params = {"name": "look", "arguments": {"path": "a"}, "_meta": {"progressToken": 7}}
    with Serve(tmp_path / "data", settings) as server:
        key = run_command(tmp_path / "data", server.port, "keys", "create")["apiKey"]
        response = httpx2.post(
            f"{server.base_url}/api/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
            headers={"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"},
            timeout=60,
        )
    assert response.headers["content-type"] == "text/event-stream"
    lines = response.text.splitlines()
    told, answered = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    assert (told["method"], told["params"]["progressToken"]) == ("notifications/progress", 7)
    assert not answered["result"].get("isError")


def test_from_an_empty_directory_to_the_first_approved_call_in_two_commands(tmp_path: Path) -> None:
    """The client starts the first command, the person types the second: `assent open` prints where it cannot open."""
    folder, data_dir, port = tmp_path / "work", tmp_path / "data", free_port()
    folder.mkdir()
    words = ("--trust", "--", *filesystem(folder))
    # The time in which a person may undo an approval is no machine time.
    agent = StdioClient(data_dir, {"ASSENT_PORT": str(port), **AT_ONCE}, flags=words, subcommand="wrap")
    started = 0
    try:
        first = agent.ask("tools/call", {"name": "list_directory", "arguments": {"path": str(folder)}})
        assert not first["result"].get("isError"), first
        started = int(agent.log.split("process ")[1].split(")")[0])
        target = folder / "b.txt"
        message = {"name": "write_file", "arguments": {"path": str(target), "content": "approved"}}
        agent.write(
            msgspec.json.encode({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": message})
            + b"\n"
        )
        link = run_command(data_dir, port, "open")["url"]
        other = StdioClient(data_dir, {"ASSENT_PORT": str(port)}, flags=words, subcommand="wrap")
        (action,) = eventually(
            lambda: other.call("chieflab_list_pending_actions")["actions"], "the call waits"
        )
        agent.process.kill()
        approve(f"http://localhost:{port}", link, other.call("chieflab_get_action", actionId=action["id"]))
        shown = other.call("chieflab_get_action", actionId=action["id"], waitSeconds=20)
        assert (shown["status"], target.read_text()) == ("executed", "approved")
        other.__exit__()
    finally:
        if started:
            os.kill(started, signal.SIGTERM)
        agent.__exit__()


def test_kill_9_of_the_wrapped_server_in_mid_call_is_an_unknown_outcome_without_a_second_call(
    tmp_path: Path,
) -> None:
    world, data_dir = tmp_path / "world", tmp_path / "data"
    world.mkdir()
    (world / "wants.json").write_text(json.dumps({"on_call": {"store": "hang"}}))
    words = ("--name", "notes", "--", sys.executable, "-I", str(FOREIGN), str(world))

    def ledger() -> list[dict[str, Any]]:
        return [json.loads(line) for line in (world / "ledger.jsonl").read_text().splitlines()]

    with Serve(data_dir, AT_ONCE) as server, StdioClient(data_dir, flags=words, subcommand="wrap") as agent:
        message = {"name": "store", "arguments": {"path": "a", "content": "b"}}
        assert agent.ask("tools/call", message)["result"]["isError"]
        with StdioClient(data_dir, flags=words, subcommand="wrap") as other:
            (action,) = other.call("chieflab_list_pending_actions")["actions"]
            record = other.call("chieflab_get_action", actionId=action["id"])
            approve(server.base_url, run_command(data_dir, server.port, "owner-link")["url"], record)
            eventually(
                lambda: any(each.get("tool") == "store" for each in ledger()), "the call is being made"
            )
            os.kill(ledger()[0]["started"], signal.SIGKILL)
            shown = other.call("chieflab_get_action", actionId=action["id"], waitSeconds=20)
            assert shown["executionState"] == "outcome_unknown"
        # A server that starts again makes no second call.
    with Serve(data_dir), StdioClient(data_dir, flags=words, subcommand="wrap") as later:
        assert later.ask("tools/list")["result"]["tools"]
        assert [each["tool"] for each in ledger() if "tool" in each] == ["store"]


def test_the_front_answers_open_calls_and_goes_on_after_its_server_was_killed(tmp_path: Path) -> None:
    world, data_dir, port = tmp_path / "world", tmp_path / "data", free_port()
    world.mkdir()
    words = ("--trust", "--name", "notes", "--", sys.executable, "-I", str(FOREIGN), str(world))
    server = Serve(data_dir, port=port)
    with StdioClient(data_dir, {"ASSENT_PORT": str(port)}, flags=words, subcommand="wrap") as agent:
        agent.ask(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "a", "version": "1"},
            },
        )
        message = {"name": "store", "arguments": {"path": "a", "content": "b"}}
        agent.write(
            msgspec.json.encode({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": message})
            + b"\n"
        )
        eventually(lambda: (world / "ledger.jsonl").exists(), "the wrapped server runs")
        server.kill()
        lost = json.loads(agent.line() or b"{}")
        assert (lost["id"], lost["error"]["code"]) == ("w", -32000)
        answer = agent.ask("tools/call", {"name": "look", "arguments": {"path": "a"}})
        assert said(answer["result"]) == "nothing there"
        os.kill(int(agent.log.split("process ")[1].split(")")[0]), signal.SIGTERM)
