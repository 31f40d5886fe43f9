"""Real clients with a dialog, on the installed server: a person confirms there what the policy wants confirmed."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp
import msgspec
import pytest
from fastmcp import Client as FastMCPClient
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult
from tests.support.interop.clients import CLIENT_SECONDS, reach
from tests.support.interop.running import Http, Served, Target, Workspace, create_workspace, stdio

from assent.app import App
from assent.gate.policy import Policy, Requirement
from assent.gate.records import Assurance
from assent.kernel.ids import WorkspaceId
from assent.ports import Single
from assent.settings.load import load_settings
from assent.sql.loader import statements

pytestmark = [pytest.mark.slow, pytest.mark.interop]

CLIENT = Requirement(Assurance.CLIENT)
CONFIRMED = Policy(low=CLIENT, medium=CLIENT, high=Requirement(Assurance.PERSON))
BODY = "We are open on Sundays now."


async def make_workspace(data_dir: Path) -> Workspace:
    """A workspace whose policy asks for the client's dialog."""
    workspace = create_workspace(data_dir, f"Dialogs {os.urandom(4).hex()}")
    app = App(load_settings({"data_dir": str(data_dir)}).settings)
    policy = msgspec.json.encode(CONFIRMED).decode()
    try:
        wanted = statements.set_policy(workspace_id=WorkspaceId(workspace.workspace_id), policy=policy)
        await app.store.write(Single(wanted))
    finally:
        await app.close()
    return workspace


@asynccontextmanager
async def official(target: Target, mode: str, seen: list[str]) -> AsyncIterator[Any]:
    async def answer(context: Any, params: Any) -> ElicitResult:
        seen.append(params.message)
        return ElicitResult(action="accept", content={"decision": "approve"})

    if isinstance(target, Http):
        async with httpx2.AsyncClient(headers=target.headers) as http:
            server = streamable_http_client(target.url, http_client=http)
            async with mcp.Client(server, mode=mode, elicitation_callback=answer) as client:
                yield client
        return
    command = StdioServerParameters(command=target.command, args=list(target.args), env=target.environment)
    async with mcp.Client(command, mode=mode, elicitation_callback=answer) as client:
        yield client


@asynccontextmanager
async def fastmcp(target: Target, mode: str, seen: list[str]) -> AsyncIterator[Any]:
    async def answer(message: str, response_type: Any, params: Any, context: Any) -> Any:
        seen.append(message)
        return {"decision": "approve"}

    async with FastMCPClient(
        reach(target), mode=mode, timeout=CLIENT_SECONDS, elicitation_handler=answer
    ) as client:
        yield client


@pytest.mark.parametrize("client", [official, fastmcp])
@pytest.mark.parametrize(
    ("transport", "mode", "asked"),
    [
        ("stdio", "legacy", True),
        ("stdio", "auto", True),
        ("http", "auto", True),
        ("http", "legacy", False),
    ],
)
async def test_a_real_client_asks_its_person_where_the_protocol_lets_it(
    client: Any, transport: str, mode: str, asked: bool, served: Served
) -> None:
    workspace = await make_workspace(served.data_dir)
    key = workspace.api_key
    target: Target = (
        Http(served.mcp_url, key) if transport == "http" else stdio(served.data_dir, ASSENT_API_KEY=key)
    )
    seen: list[str] = []
    async with client(target, mode, seen) as agent:
        staged = await agent.call_tool("chieflab_post", {"channel": "site", "body": BODY})
        about = {"actionId": staged.structured_content["actions"][0]["id"]}
        options = {"raise_on_error": False} if client is fastmcp else {}
        told = (await agent.call_tool("chieflab_approve_action", about, **options)).structured_content

    if asked:
        assert (told["status"], told["assurance"]) == ("approved", "client")
        assert [BODY in message for message in seen] == [True]
    else:
        assert (told["reason"], seen) == ("requires_approval", [])
        assert "/runs/" in told["reviewUrl"]
