"""How a client of each revision says a thing, so that a test can say it in all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from mcp.shared.inbound import encode_header_value
from tests.support.contract.seed_client import RECOVERY
from tests.support.surfaces import Surface

from assent.ports import Statement
from assent.serving.edge import Credentials
from assent.serving.jsonrpc_errors import Unreadable
from assent.serving.stdio import StdioSession

LEGACY: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN: Final = "2026-07-28"
REVISIONS: Final = (*LEGACY, MODERN)

NAMED: Final = {"tools/call": "name"}
META: Final = "io.modelcontextprotocol/"
PUBLIC: Final = "chieflab_list_connectors"
SIGNUP: Final = "chieflab_signup_workspace"
KEYED: Final = "chieflab_get_workspace"

RECOVERY_FIELDS: Final = set(RECOVERY)


@dataclass(frozen=True)
class Heard:
    """One answer: the JSON-RPC message, and what HTTP said around it (None on stdio)."""

    message: dict[str, Any]
    status: int | None
    headers: dict[str, str]

    @property
    def result(self) -> dict[str, Any]:
        assert "result" in self.message, self.message
        result: dict[str, Any] = self.message["result"]
        return result

    @property
    def error(self) -> dict[str, Any]:
        assert "error" in self.message, self.message
        error: dict[str, Any] = self.message["error"]
        return error


def request(method: str, params: dict[str, Any] | None = None, request_id: Any = 1) -> dict[str, Any]:
    """A bare request of the legacy era."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def tool_call(name: str, arguments: Any = None, request_id: Any = 1) -> dict[str, Any]:
    return request("tools/call", {"name": name, "arguments": arguments or {}}, request_id)


def enveloped(method: str, params: dict[str, Any] | None = None, version: Any = MODERN) -> dict[str, Any]:
    """A request of the modern era: everything the server must know travels with it."""
    meta = {
        META + "protocolVersion": version,
        META + "clientCapabilities": {},
        META + "clientInfo": {"name": "a test", "version": "1"},
    }
    return request(method, {**(params or {}), "_meta": meta})


def modern_headers(message: dict[str, Any], version: str = MODERN) -> dict[str, str]:
    """The headers that must agree with a modern body."""
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": message["method"]}
    if message["method"] in NAMED:
        headers["Mcp-Name"] = encode_header_value(str(message["params"][NAMED[message["method"]]]))
    return headers


async def say(surface: Surface, message: Any, **options: Any) -> Heard:
    """One message, which must be answered."""
    answer, status, headers = await surface.send(message, **options)
    assert answer is not None
    return Heard(answer, status, headers)


async def say_modern(surface: Surface, method: str, params: dict[str, Any] | None = None) -> Heard:
    message = enveloped(method, params)
    return await say(surface, message, headers=modern_headers(message))


async def say_in(surface: Surface, revision: str, method: str, params: dict[str, Any] | None = None) -> Heard:
    """A request as a client of that revision sends it."""
    if revision == MODERN:
        return await say_modern(surface, method, params)
    if surface.transport == "http":
        return await say(surface, request(method, params), headers={"MCP-Protocol-Version": revision})
    hello = request("initialize", initialize_params(revision), "hello")
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answers = await converse(surface, [hello, ready, request(method, params)])
    return Heard(next(answer for answer in answers if answer["id"] == 1), None, {})


def initialize_params(revision: str) -> dict[str, Any]:
    return {
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    }


async def converse(
    surface: Surface, messages: Iterable[Any], credentials: Credentials | None = None
) -> list[dict[str, Any]]:
    """Several lines to one stdio session; everything it wrote. `Unreadable` is one that was too long to keep."""
    written: list[bytes] = []

    async def lines() -> AsyncIterator[bytes | Unreadable]:
        for message in messages:
            if isinstance(message, (bytes, Unreadable)):
                yield message
            else:
                yield msgspec.json.encode(message)

    session = StdioSession(
        surface.surfaces.messages, credentials or Credentials(api_key=surface.key), written.append
    )
    await session.run(lines())
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in written)
    return [msgspec.json.decode(line) for line in written]


def other_transport(surface: Surface) -> Surface:
    """A client of the same server over the other transport, with the same key."""
    other = Surface(surface.app, "stdio" if surface.transport == "http" else "http", surface.surfaces)
    other.key = surface.key
    return other


async def count_rows(surface: Surface, table: str) -> int:
    """How many rows a table has, past every layer of the server."""
    sql = f"SELECT count(*) AS n FROM {table}"
    statement = Statement("count_rows", sql, sql, (), writes=False).bound_type()

    def begin() -> Any:
        return (yield statement())

    rows = await surface.app.store.read(begin)
    return int(rows[0]["n"])
