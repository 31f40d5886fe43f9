"""The wires: HTTP and a command over stdio, which may do anything and is never waited for without a bound."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.processes.running import eventually
from tests.support.surfaces import BASE_URL

from assent_conform.checks import stdio_wire, wire
from assent_conform.checks.catalog import ALL_CHECKS
from assent_conform.checks.checking import ConformanceReport, Scene, run_checks
from assent_conform.checks.stdio_wire import StdioWire
from assent_conform.checks.wire import ENDPOINT, LEGACY, MODERN, HttpWire, Patience, Server, Unreachable

ODD = (sys.executable, str(Path(__file__).parents[4] / "tests/support/conformance/odd_command.py"))
SECONDS = 20.0
"""For a program to start on a machine with other work."""


def call_over(transport: httpx.AsyncBaseTransport, **options: Any) -> Server:
    return Server(HttpWire(BASE_URL, transport=transport, **options), Patience())


async def test_a_server_that_is_not_there_is_said_to_be_unreachable() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody listens")

    server = call_over(httpx.MockTransport(refuse))
    with pytest.raises(Unreachable, match="nobody listens"):
        await server.call("chieflab_help")


async def test_an_answer_over_http_has_a_size_and_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_ANSWER_BYTES", 10_000)
    endless = asyncio.Event()

    async def flood() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1_000

    async def stall() -> AsyncIterator[bytes]:
        yield b"x"
        await endless.wait()

    for body, problem in ((flood, "more than"), (stall, "no whole answer within 0.1 s")):
        transport = httpx.MockTransport(lambda request, body=body: httpx.Response(200, content=body()))
        with pytest.raises(Unreachable, match=problem):
            await call_over(transport, seconds=0.1).call("chieflab_help")


@pytest.mark.parametrize("address", [BASE_URL, f"{BASE_URL}/", BASE_URL + ENDPOINT, f"{BASE_URL}{ENDPOINT}/"])
def test_the_address_may_be_the_servers_or_its_endpoints(address: str) -> None:
    assert HttpWire(address).name == BASE_URL


async def test_an_answer_that_comes_as_an_event_stream_is_read() -> None:
    message = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": '{"ok": true}'}]}}
    stream = f"event: message\ndata: {json.dumps(message)}\n\n"
    transport = httpx.MockTransport(
        lambda request: httpx.Response(200, text=stream, headers={"Content-Type": "text/event-stream"})
    )
    assert (await call_over(transport).call("any")).payload == {"ok": True}


async def test_a_message_without_a_handshake_carries_its_envelope_and_its_headers() -> None:
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, text="{}")

    server = call_over(httpx.MockTransport(answer)).as_caller("a-key")
    await server.rpc("tools/call", {"name": "any", "arguments": {}}, modern=True)
    await server.rpc("tools/list")
    modern, legacy = sent
    assert (modern.headers["mcp-protocol-version"], legacy.headers["mcp-protocol-version"]) == (
        MODERN,
        LEGACY,
    )
    assert (modern.headers["mcp-method"], modern.headers["mcp-name"]) == ("tools/call", "any")
    meta = json.loads(modern.content)["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == MODERN
    assert "params" not in json.loads(legacy.content)
    assert {request.headers["authorization"] for request in sent} == {"Bearer a-key"}


class Command:
    """A wire to the odd program, and the numbers of the processes that it started."""

    def __init__(self, bad: str, report: Path, **options: Any) -> None:
        self.report = report
        self.wire = StdioWire(
            (*ODD, bad, str(report)), {**os.environ, "ODD_KEY": "k"}, **{"seconds": SECONDS, **options}
        )
        self.server = Server(self.wire, Patience())

    def noted(self) -> list[str]:
        return self.report.read_text().splitlines() if self.report.exists() else []

    def expect_nothing_left(self) -> None:
        for pid in [int(line) for line in self.noted() if line.isdigit()]:
            eventually(lambda pid=pid: not is_running(pid), f"process {pid} has ended")  # type: ignore[misc]

    async def run(self, *names: str) -> ConformanceReport:
        checks = [each for each in ALL_CHECKS if each.name in names]
        try:
            return await run_checks(
                checks, Scene(self.server, self.server, self.server), has=("key", "stdio")
            )
        finally:
            await self.wire.close()


def is_running(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except (
        FileNotFoundError
    ):  # it ended just now, or this system has no such file and waits for orphans itself
        return not Path("/proc").exists()
    return state != "Z"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return tmp_path / "noted"


async def test_a_command_is_spoken_to_after_a_handshake_and_ends_with_the_wire(report: Path) -> None:
    command = Command("fine", report)
    await command.wire.open()
    answer = await command.server.rpc("tools/list")
    assert answer.result["asked"] == {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert (await command.server.initialize(LEGACY)).result["key"] == "k"
    await command.wire.close()
    assert len(command.noted()) == 2
    command.expect_nothing_left()


async def test_a_server_without_handshake_gets_messages_that_stand_alone(report: Path) -> None:
    command = Command("modern", report)
    await command.wire.open()
    answer = await command.server.rpc("tools/list")
    meta = answer.result["asked"]["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == MODERN
    await command.wire.close()


async def test_requests_of_the_server_are_refused_and_a_ping_is_answered(report: Path) -> None:
    command = Command("asks_back", report)
    assert (await command.server.rpc("tools/list")).result == {"tools": []}
    await command.wire.close()
    _, refused, pinged = command.noted()
    assert json.loads(refused)["error"]["code"] == -32601
    assert json.loads(pinged) == {"jsonrpc": "2.0", "id": "pinged", "result": {}}


async def test_bytes_that_are_no_message_and_notifications_are_told_apart_by_a_fence(report: Path) -> None:
    command = Command("fine", report)
    assert (await command.server.send(b"{not json")).error["code"] == -32700
    silent = await command.server.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert (silent.message, silent.status) == (None, 202)
    assert (await command.run("silence")).passed == 1
    assert (await Command("answers_notifications", report).run("silence")).failed == 1


async def test_a_line_that_is_no_message_fails_the_check_of_standard_output(report: Path) -> None:
    assert (await Command("fine", report).run("silence", "clean_output")).passed == 2
    outcome = (await Command("talks", report).run("silence", "clean_output")).outcomes[1]
    assert outcome.status == "failed"
    assert "Server started!" in str(outcome.detail)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("exits", "ended with exit status 3; its last error output: no database"),
        ("hangs", "no answer to initialize within 2 s"),
        ("floods_a_line", "a line of more than"),
        ("floods_lines", "lines without the answer"),
        ("refuses", "refuses initialize and server/discover .*closed today"),
    ],
)
async def test_a_command_that_serves_nothing_is_named_with_its_fault_and_ended(
    report: Path, bad: str, problem: str
) -> None:
    command = Command(bad, report, **({"seconds": 2.0} if bad == "hangs" else {}))
    with pytest.raises(Unreachable, match=problem):
        await command.wire.open()
    command.expect_nothing_left()


@pytest.mark.parametrize(("words", "problem"), [(("/",), "cannot be started"), (("\0",), "null byte")])
async def test_what_is_no_program_is_said_to_be_none(words: tuple[str, ...], problem: str) -> None:
    with pytest.raises(Unreachable, match=problem):
        await StdioWire(words, {}).open()


async def test_a_flood_of_error_output_holds_nothing_up(report: Path) -> None:
    command = Command("floods_errors", report)
    assert (await command.server.rpc("tools/list")).result["tools"] == []
    await command.wire.close()


async def test_a_process_that_dies_is_replaced_by_another(report: Path) -> None:
    command = Command("dies", report)
    for _ in range(2):
        with pytest.raises(Unreachable, match="exit status 5"):
            await command.server.rpc("tools/list")
    assert (await command.server.rpc("ping")).result == {}
    await command.wire.close()
    assert len(command.noted()) == 3
    command.expect_nothing_left()


async def test_a_process_that_hangs_in_a_call_is_ended(report: Path) -> None:
    command = Command("hangs_later", report, seconds=3.0)
    with pytest.raises(Unreachable, match="no answer to tools/list within 3 s"):
        await command.server.rpc("tools/list")
    command.expect_nothing_left()


@pytest.mark.parametrize("bad", ["stays", "has_a_child"])
async def test_a_process_that_stays_after_its_input_and_its_children_are_ended(
    report: Path, bad: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio_wire, "END_SECONDS", 0.2)
    command = Command(bad, report)
    await command.wire.open()
    await command.wire.close()
    assert len(command.noted()) == (2 if bad == "has_a_child" else 1)
    command.expect_nothing_left()


async def test_a_run_that_is_cancelled_leaves_no_process(report: Path) -> None:
    command = Command("hangs_later", report)
    await command.wire.open()
    calling = asyncio.create_task(command.server.rpc("tools/list"))
    await asyncio.sleep(0)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    command.expect_nothing_left()


async def test_a_command_has_no_pages() -> None:
    with pytest.raises(Unreachable, match="serves no HTTP"):
        await StdioWire(ODD, {}).get("/runs/1")
