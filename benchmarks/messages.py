"""The messages a benchmark sends, in the words of both eras, and the check that an answer is a success."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

LEGACY: Final = "2025-11-25"
MODERN: Final = "2026-07-28"
CLIENT: Final = {"name": "benchmarks", "version": "0"}

INITIALIZE: Final = (
    json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT},
        }
    ).encode()
    + b"\n"
)


def tool_call(version: str, tool: str, arguments: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
    """Body and headers of one `tools/call` as a POST."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
    }
    if version == MODERN:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": CLIENT,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.dumps(message).encode(), headers


def succeeded(answer: bytes) -> bool:
    """Whether a JSON-RPC answer is a result, and not one that says it is an error."""
    message = msgspec.json.decode(answer)
    result = message.get("result") if isinstance(message, dict) else None
    return isinstance(result, dict) and result.get("isError") is not True
