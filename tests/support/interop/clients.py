"""Real MCP clients, each made to hold the same short conversation, and what each saw of it.

A conversation is: connect, list the tools, call one that is public and one that needs a workspace. The
clients differ in language, protocol era and how they report; the tests compare only what they saw.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import mcp
import msgspec
from fastmcp import Client as FastMCPClient
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from tests.support.interop.running import Http, Target

ROOT = Path(__file__).resolve().parents[3]
NODE_TOOLS = ROOT / ".node"
PACKAGES = NODE_TOOLS / "node_modules"
INSPECTOR = str(PACKAGES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js")
CLIENT_SECONDS = 60.0

PUBLIC_TOOL = "chieflab_list_connectors"
KEYED_TOOL = "chieflab_status"

LEGACY = "2025-11-25"
MODERN = "2026-07-28"


class Seen(msgspec.Struct, frozen=True, rename="camel"):
    """What a client reports of its conversation; `protocol` is null where it does not tell."""

    protocol: str | None
    tools: tuple[str, ...]
    connectors: dict[str, Any]
    workspace: dict[str, Any] | None


class Client(msgspec.Struct, frozen=True):
    """A client in one mode. `protocol` is the revision it must end up speaking."""

    name: str
    protocol: str
    needs_node: bool
    converse: Callable[[Target, bool], Seen]


def node() -> str | None:
    """Node 22 as the tools bring it."""
    for candidate in sorted(PACKAGES.glob("node-linux-*/bin/node")):
        if os.access(candidate, os.X_OK):
            return str(candidate)
    return None


def run_node(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = node()
    assert program is not None
    return subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        timeout=CLIENT_SECONDS,
        check=False,
    )


def _mcp_python(mode: str) -> Callable[[Target, bool], Seen]:
    async def converse(target: Target, keyed: bool) -> Seen:
        if isinstance(target, Http):
            async with httpx2.AsyncClient(headers=target.headers) as http:
                return await talk(streamable_http_client(target.url, http_client=http), keyed)
        parameters = StdioServerParameters(
            command=target.command, args=list(target.args), env=target.environment
        )
        return await talk(parameters, keyed)

    async def talk(server: Any, keyed: bool) -> Seen:
        async with mcp.Client(server, mode=mode, read_timeout_seconds=CLIENT_SECONDS) as client:
            listed = await client.list_tools()
            connectors = await client.call_tool(PUBLIC_TOOL, {})
            workspace = await client.call_tool(KEYED_TOOL, {}) if keyed else None
            return Seen(
                client.protocol_version,
                tuple(tool.name for tool in listed.tools),
                payload(connectors),
                None if workspace is None else payload(workspace),
            )

    def payload(result: Any) -> dict[str, Any]:
        assert json.loads(result.content[0].text) == result.structured_content
        return dict(result.structured_content)

    return lambda target, keyed: asyncio.run(converse(target, keyed))


def reach(target: Target) -> StreamableHttpTransport | StdioTransport:
    """FastMCP's way to a server."""
    if isinstance(target, Http):
        return StreamableHttpTransport(target.url, headers=target.headers)
    return StdioTransport(target.command, list(target.args), env=target.environment, keep_alive=False)


def _fastmcp(mode: str) -> Callable[[Target, bool], Seen]:
    async def converse(target: Target, keyed: bool) -> Seen:
        async with FastMCPClient(reach(target), mode=mode, timeout=CLIENT_SECONDS) as client:
            tools = await client.list_tools()
            connectors = await client.call_tool(PUBLIC_TOOL, {})
            workspace = await client.call_tool(KEYED_TOOL, {}) if keyed else None
            return Seen(
                None,
                tuple(tool.name for tool in tools),
                connectors.structured_content or {},
                None if workspace is None else workspace.structured_content,
            )

    return lambda target, keyed: asyncio.run(converse(target, keyed))


def _typescript(package: str, mode: str) -> Callable[[Target, bool], Seen]:
    def converse(target: Target, keyed: bool) -> Seen:
        reach = (
            {"url": target.url, "headers": target.headers}
            if isinstance(target, Http)
            else {"command": target.command, "args": target.args, "env": target.environment}
        )
        order = {
            "package": package,
            "mode": mode,
            "packagesFrom": f"{NODE_TOOLS}/",
            "reach": reach,
            "publicTool": PUBLIC_TOOL,
            "keyedTool": KEYED_TOOL if keyed else None,
        }
        done = run_node(str(Path(__file__).with_name("node") / "converse.mjs"), json.dumps(order))
        assert done.returncode == 0, done.stderr
        return msgspec.json.decode(done.stdout, type=Seen)

    return converse


def _inspector(era: str) -> Callable[[Target, bool], Seen]:
    def ask(target: Target, *method: str) -> dict[str, Any]:
        if isinstance(target, Http):
            headers = [f"{name}: {value}" for name, value in target.headers.items()]
            reach = [target.url, "--transport", "http", *(("--header", *headers) if headers else ())]
        else:
            # The Inspector hands on only what it is told to.
            settings = [f"{name}={value}" for name, value in target.settings.items()]
            reach = [target.command, *target.args, *(word for pair in settings for word in ("-e", pair))]
        done = run_node(
            INSPECTOR, "--cli", *reach, "--protocol-era", era, *method, "--format", "json", "--quiet"
        )
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)["result"]
        return answer

    def call(target: Target, tool: str) -> dict[str, Any]:
        answer = ask(target, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", "{}")
        payload: dict[str, Any] = answer["structuredContent"]
        return payload

    def converse(target: Target, keyed: bool) -> Seen:
        listed = ask(target, "--method", "tools/list")
        return Seen(
            None,
            tuple(tool["name"] for tool in listed["tools"]),
            call(target, PUBLIC_TOOL),
            call(target, KEYED_TOOL) if keyed else None,
        )

    return converse


CLIENTS = (
    Client("mcp-python-legacy", LEGACY, False, _mcp_python("legacy")),
    Client("mcp-python-auto", MODERN, False, _mcp_python("auto")),
    Client("fastmcp-legacy", LEGACY, False, _fastmcp("legacy")),
    Client("fastmcp-auto", MODERN, False, _fastmcp("auto")),
    Client("typescript-sdk-1", LEGACY, True, _typescript("sdk", "legacy")),
    Client("typescript-client-2-legacy", LEGACY, True, _typescript("client", "legacy")),
    Client("typescript-client-2-auto", MODERN, True, _typescript("client", "auto")),
    Client("inspector-legacy", LEGACY, True, _inspector("legacy")),
    Client("inspector-modern", MODERN, True, _inspector("modern")),
)
