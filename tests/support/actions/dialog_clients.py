"""The official SDK's client on a server in this process, and people who answer its dialog."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.jsonrpc import jsonrpc_message_adapter
from tests.support.actions.kit import APPROVE, Gate
from tests.support.surfaces import BASE_URL

from assent.serving.edge import Credentials
from assent.serving.stdio import StdioSession

LEGACY = "legacy"
MODERN = "2026-07-28"
YES = {"decision": "approve"}


@dataclass
class Person:
    """A person in front of a client, who answers every dialog alike."""

    answer: ElicitResult | None
    """None never answers."""
    seen: list[str] = field(default_factory=list)
    meanwhile: Callable[[], Awaitable[object]] | None = None
    """What happens while the dialog is open."""
    closed: bool = False
    """Whether the dialog was closed without this person."""

    async def decide(self, context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        assert params.requested_schema["required"] == ["decision"]
        self.seen.append(params.message)
        if self.meanwhile is not None:
            await self.meanwhile()
        if self.answer is None:
            try:
                await asyncio.Event().wait()
            finally:
                self.closed = True
        assert self.answer is not None
        return self.answer


def saying(action: Any, content: Any = None) -> Person:
    return Person(ElicitResult(action=action, content=content))


@dataclass(frozen=True)
class Told:
    """What an agent behind the client gets."""

    payload: dict[str, Any]
    is_error: bool

    @property
    def reason(self) -> str | None:
        return self.payload.get("reason")


@dataclass(frozen=True)
class Agent:
    """An agent that calls tools through the client."""

    client: mcp.Client

    async def call(self, tool: str, **arguments: Any) -> Told:
        result = await self.client.call_tool(tool, arguments)
        return Told(dict(result.structured_content), bool(result.is_error))

    async def approve(self, action_id: str, **arguments: Any) -> Told:
        return await self.call(APPROVE, actionId=action_id, **arguments)

    async def open_dialog(self, action_id: str, **arguments: Any) -> str:
        """Start an approval by hand; the state that the client would keep."""
        arguments = {"actionId": action_id, **arguments}
        result = await self.client.session.call_tool(APPROVE, arguments, allow_input_required=True)
        assert isinstance(result, InputRequiredResult)
        assert result.request_state is not None
        return result.request_state

    async def answer(
        self, state: str, action_id: str, action: Any = "accept", content: Any = None, **arguments: Any
    ) -> Told:
        """Repeat an approval with a state and an answer, as a client does, or somebody in its place."""
        content = YES if action == "accept" and content is None else content
        result = await self.client.session.call_tool(
            APPROVE,
            {"actionId": action_id, **arguments},
            input_responses={"question": ElicitResult(action=action, content=content)},
            request_state=state,
            allow_input_required=True,
        )
        assert not isinstance(result, InputRequiredResult)
        return Told(dict(result.structured_content), bool(result.is_error))


@asynccontextmanager
async def agent(
    gate: Gate, mode: str, person: Person | None = None, key: str | None = None
) -> AsyncIterator[Agent]:
    """An agent over the gate's transport. Without a person its client declares no dialog."""
    callback = person.decide if person is not None else None
    key = key or gate.key
    if gate.transport == "stdio":
        async with mcp.Client(_pipe(gate, key), mode=mode, elicitation_callback=callback) as client:
            yield Agent(client)
        return
    wire = httpx2.ASGITransport(app=gate.surfaces.site(), client=("203.0.113.7", 50_000))
    async with httpx2.AsyncClient(transport=wire, headers={"Authorization": f"Bearer {key}"}) as http:
        server = streamable_http_client(f"{BASE_URL}/api/mcp", http_client=http)
        async with mcp.Client(server, mode=mode, elicitation_callback=callback) as client:
            yield Agent(client)


@asynccontextmanager
async def _pipe(gate: Gate, key: str | None) -> AsyncIterator[Any]:
    """Both ends of a stdio session, in memory."""
    to_client, from_server = anyio.create_memory_object_stream[Any](math.inf)
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage](math.inf)

    def write(line: bytes) -> None:
        to_client.send_nowait(SessionMessage(jsonrpc_message_adapter.validate_json(line)))

    async def lines() -> AsyncIterator[bytes]:
        async for message in from_client:
            yield message.message.model_dump_json(by_alias=True, exclude_unset=True).encode()

    session = StdioSession(gate.surfaces.messages, Credentials(api_key=key), write)
    with to_client, from_server, from_client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.run, lines())
            try:
                yield from_server, to_server
            finally:
                to_server.close()
