"""A server that wraps another one, in this process, and its client: a front's connection without the socket."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import msgspec
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from tests.support.actions.kit import Gate
from tests.support.keyed_browser import KeyedBrowser
from tests.support.surfaces import BASE_URL, ManualClock, settings_for

from assent.app import App
from assent.engine.core.tenancy import LOCAL_PRINCIPAL, LOCAL_WORKSPACE
from assent.engine.people import people
from assent.gate.records import Assurance
from assent.processes.serve import Surfaces
from assent.serving.edge import Credentials
from assent.serving.stdio import StdioSession
from assent_wrap.front import read_order

FOREIGN = str(Path(__file__).with_name("foreign_server.py"))
DEADLINE_SECONDS = 20.0


class Wrapped(Gate):
    """A server, the one behind it, and everything that a test may do behind their backs."""

    def __init__(self, database_url: str, folder: Path, **settings: Any) -> None:
        app = App(settings_for(database_url, folder / "data", **settings), clock=ManualClock())
        app.waits.poll_seconds = 0.02
        super().__init__(app, "stdio")
        self.workspace_id = LOCAL_WORKSPACE
        self.world = folder / "world"
        self.world.mkdir(exist_ok=True)

    def command(self, *flags: str) -> list[str]:
        return [sys.executable, "-I", FOREIGN, str(self.world), *flags]

    def want(self, **wants: Any) -> None:
        """Say how the server behind it shall be from now on."""
        (self.world / "wants.json").write_text(json.dumps(wants))

    @property
    def ledger_entries(self) -> list[dict[str, Any]]:
        path = self.world / "ledger.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def calls_of(self, tool: str) -> list[dict[str, Any]]:
        """What the server behind it was really asked to do."""
        return [entry["arguments"] for entry in self.ledger_entries if entry.get("tool") == tool]

    @property
    def starts(self) -> list[dict[str, Any]]:
        return [entry for entry in self.ledger_entries if "started" in entry]

    async def open(self, *flags: str, **order: Any) -> FrontClient:
        """A client whose process wraps the server behind it."""
        given = {
            "command": self.command(*flags),
            "name": "notes",
            "environment": {"PATH": "/usr/bin:/bin"},
            **order,
        }
        described = msgspec.json.encode(given)
        profile_id = await self.app.gateway.open_profile(LOCAL_PRINCIPAL, described)
        return await self._connect(profile_id)

    async def _connect(self, profile_id: str) -> FrontClient:
        """A client that can show a dialog, so that its gated calls wait."""
        made = FrontClient(self.surfaces, Credentials(local=LOCAL_PRINCIPAL, profile_id=profile_id))
        await made.handshake(elicitation={})
        return made

    async def open_front(
        self, environ: dict[str, str], *named: str, words: list[str] | None = None, config: str | None = None
    ) -> FrontClient:
        """A client whose `assent wrap` has this environment and the options `--env` of `named`."""
        options = {"--config": "mcp.json"} if config is not None else {"--name": "notes"}
        command = [] if config is not None else words or self.command()
        flags = frozenset({"--trust"})
        order = read_order(command, options, flags, environ, lambda path: config or "", named=named)
        profile_id = await self.app.gateway.open_profile(LOCAL_PRINCIPAL, msgspec.json.encode(order))
        return await self._connect(profile_id)

    async def waiting(self) -> list[dict[str, Any]]:
        """The actions that wait for a person."""
        found = (await self.done("chieflab_list_pending_actions"))["actions"]
        return [await self.done("chieflab_get_action", actionId=each["id"]) for each in found]

    async def until_waiting(self, count: int = 1) -> list[dict[str, Any]]:
        async def enough() -> bool:
            return len(await self.waiting()) >= count

        await self.until(enough)
        return await self.waiting()

    async def until_held(self) -> None:
        """Until a call waits for a person."""

        async def holds() -> bool:
            return self.app.waits.count > 0

        await self.until(holds)

    async def has_none_waiting(self) -> bool:
        return not await self.waiting()

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Look until something holds that happens without this test."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not await holds():  # noqa: ASYNC110 - the other side has no event
                await asyncio.sleep(0.01)

    async def approve(self, action_id: str) -> None:
        """A signed-in person approves, and the job runs that makes the call."""
        await self.approve_as(Assurance.PERSON, action_id)
        await self.run_jobs()

    async def owner(self) -> KeyedBrowser:
        """A browser that the owner is signed in with. It signs what it is asked to confirm, unless told otherwise."""
        entropy, now_ms = os.urandom(people.ENTROPY_BYTES), self.clock.now_ms()
        token = await self.app.store.write(
            lambda: people.issue_link(entropy, now_ms, shown_to="terminal", person_id=people.OWNER)
        )
        transport = httpx.ASGITransport(app=self.surfaces.site(), client=("127.0.0.1", 50_000))
        headers = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html", "Origin": BASE_URL}
        browser = KeyedBrowser(transport=transport, base_url=BASE_URL, headers=headers)
        assert (await browser.post(f"/sign-in/{token}", data={})).status_code == 303
        return browser

    async def call(self, tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> Any:
        """A call of this server's own tools, as the local user."""
        options.setdefault("key", None)
        return await super().call(tool, arguments, **options)

    async def _send_line(self, line: bytes, key: str | None) -> dict[str, Any] | None:
        written: list[bytes] = []
        credentials = Credentials(api_key=key) if key else Credentials(local=LOCAL_PRINCIPAL)
        session = StdioSession(self.surfaces.messages, credentials, written.append)

        async def lines() -> AsyncIterator[bytes]:
            yield line.replace(b"\n", b" ")

        await session.run(lines())
        return msgspec.json.decode(written[0]) if written else None


@asynccontextmanager
async def connect_sdk(surfaces: Surfaces, credentials: Credentials) -> AsyncIterator[tuple[Any, Any]]:
    """The connection of a front, for the SDK's client."""
    to_client, reads = anyio.create_memory_object_stream[SessionMessage](100)
    writes, from_client = anyio.create_memory_object_stream[SessionMessage](100)

    async def lines() -> AsyncIterator[bytes]:
        async for sent in from_client:
            yield sent.message.model_dump_json(by_alias=True, exclude_none=True).encode()

    def write(data: bytes) -> None:
        to_client.send_nowait(SessionMessage(jsonrpc_message_adapter.validate_json(data)))

    session = asyncio.create_task(StdioSession(surfaces.messages, credentials, write).run(lines()))
    async with to_client, reads, writes, from_client:
        yield reads, writes
        await writes.aclose()
        await asyncio.wait_for(session, DEADLINE_SECONDS)


class FrontClient:
    """One client on a connection that stays open."""

    def __init__(self, surfaces: Surfaces, credentials: Credentials) -> None:
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._answers: dict[Any, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = 0
        self.notes: list[dict[str, Any]] = []
        self.answers_to_server: dict[str, Any] = {"action": "accept", "content": {"colour": "blue"}}
        self.asked: list[dict[str, Any]] = []
        """The params of what the server asked this client's person."""
        self.modern = False
        self.capabilities: dict[str, Any] = {}
        self.credentials = credentials
        session = StdioSession(surfaces.messages, credentials, self._take)
        self._task = asyncio.create_task(session.run(self._feed()))

    async def _feed(self) -> AsyncIterator[bytes]:
        while (line := await self._lines.get()) is not None:
            yield line

    def _take(self, data: bytes) -> None:
        message = msgspec.json.decode(data)
        if "method" in message and "id" in message:
            self.asked.append(message["params"])
            self.send({"id": message["id"], "result": self.answers_to_server})
        elif "method" in message:
            self.notes.append(message)
        else:
            self._answers.pop(message["id"]).set_result(message)

    def send(self, message: dict[str, Any]) -> None:
        self._lines.put_nowait(msgspec.json.encode({"jsonrpc": "2.0", **message}))

    def send_raw(self, line: bytes, number: Any) -> asyncio.Future[dict[str, Any]]:
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._lines.put_nowait(line)
        return answer

    def begin(
        self, method: str, params: dict[str, Any] | None = None
    ) -> tuple[int, asyncio.Future[dict[str, Any]]]:
        self._numbers += 1
        given = dict(params or {})
        if self.modern:
            given["_meta"] = {
                **given.get("_meta", {}),
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            }
        line = msgspec.json.encode({"jsonrpc": "2.0", "id": self._numbers, "method": method, "params": given})
        return self._numbers, self.send_raw(line, self._numbers)

    async def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """One request; its result, or its error under `error`."""
        _, answer = self.begin(method, params)
        found = await asyncio.wait_for(answer, DEADLINE_SECONDS)
        result: dict[str, Any] = found.get("result", found)
        return result

    async def handshake(self, **capabilities: Any) -> None:
        await self.request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": {"name": "t", "version": "1"},
            },
        )

    async def names(self) -> list[str]:
        return [each["name"] for each in (await self.request("tools/list"))["tools"]]

    def start_call(
        self, name: str, meta: dict[str, Any] | None = None, **arguments: Any
    ) -> asyncio.Future[Any]:
        return self.begin(
            "tools/call", {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
        )[1]

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        return await self.request("tools/call", {"name": name, "arguments": arguments})

    async def close(self) -> None:
        """Go away, as a killed process does."""
        self._lines.put_nowait(None)
        await asyncio.wait_for(self._task, DEADLINE_SECONDS)


def said(result: dict[str, Any]) -> str:
    """The texts of a result."""
    return "\n".join(each["text"] for each in result["content"])
