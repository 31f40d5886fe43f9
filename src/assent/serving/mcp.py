"""The tool table as an MCP server, on the official SDK's low-level `Server`.

This module implements `tools/list` and `tools/call`. The SDK implements initialize, discover, ping, version rules and
result envelopes. Each message runs through the SDK's single-exchange driver on both transports: no session, no
handshake to wait for. Legacy results use the newest legacy revision, so that outputSchema, annotations and
structuredContent reach clients of every revision.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import msgspec
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import INVALID_PARAMS, CallToolRequestParams, PaginatedRequestParams, RequestId
from mcp_types.version import LATEST_HANDSHAKE_VERSION, is_version_at_least

from assent import __version__
from assent.kernel.refusals import Reason
from assent.kernel.toolsets import DEFAULT_TOOLSETS
from assent.serving.edge import Answer, Caller, Edge, RequestContext, toolsets_of
from assent.serving.instructions import SPEC_URL, instructions

SERVER_ERROR: Final = -32000
"""Code of internal errors, and of refusals that HTTP reports as a status (C16)."""

RESULTS_CARRY_ARGUMENT_ERRORS_SINCE: Final = "2025-11-25"

COMPLETE: Final = "complete"
"""Result type that the modern era requires. The SDK removes it from legacy results."""

LIST_TTL_MS: Final = 300_000
"""Lifetime of a cached tool list, which changes only with the server's version."""


@dataclass(slots=True)
class Exchange:
    """One message on its way through the SDK, with the facts that the HTTP surface needs afterwards."""

    context: RequestContext
    version: str
    over_http: bool
    status: int | None = None
    retry_after_seconds: int | None = None
    gate: Reason | None = None
    odd_arguments: Any = None
    """Arguments that are not an object or are nested too deeply. The SDK would refuse them without naming the
    problem."""
    structured: str | None = None
    """The tool's reply as JSON text. It bypasses the SDK, which would only parse and serialize it again."""


@dataclass
class _Dispatch:
    """The SDK's dispatch context for a message that gets exactly one response."""

    request_id: RequestId | None
    message_metadata: ServerMessageMetadata
    transport: TransportContext
    progress_token: None = None
    can_send_request: bool = field(default=False, init=False)
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(self, method: str, params: Any, opts: Any = None) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Any, opts: Any = None) -> None:
        return None

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        return None


class McpServer:
    """Answers one JSON-RPC request of either era, the same on both transports (E57)."""

    def __init__(
        self,
        edge: Edge,
        *,
        open_discovery: bool = True,
        toolsets: Collection[str] = DEFAULT_TOOLSETS,
    ) -> None:
        self._edge = edge
        self._open_discovery = open_discovery
        hint = CacheHint(ttl_ms=LIST_TTL_MS, scope="public" if open_discovery else "private")
        self._server: Server[Any] = Server(
            "assent",
            version=__version__,
            title="Assent",
            instructions=instructions(toolsets),
            website_url=SPEC_URL,
            cache_hints={"tools/list": hint, "server/discover": hint},
            on_list_tools=self._list_tools,  # type: ignore[arg-type]  # a ready dict is a handler result too
            on_call_tool=self._call_tool,  # type: ignore[arg-type]
        )

    async def serve(
        self,
        exchange: Exchange,
        request_id: RequestId,
        method: str,
        params: dict[str, Any] | None,
        *,
        modern: tuple[Any, Any] | None,
    ) -> dict[str, Any]:
        """Return the result of one request. Raises `MCPError`, or `ValidationError` for params that fit no revision."""
        if (
            method == "tools/call"
            and params is not None
            and not isinstance(params.get("arguments", {}), dict)
        ):
            exchange.odd_arguments = params["arguments"]
            params = {**params, "arguments": {}}
        if modern is None:
            connection = Connection.from_envelope(LATEST_HANDSHAKE_VERSION, None, None)
        else:
            connection = Connection.from_envelope(exchange.version, *modern)
        dispatch = _Dispatch(
            request_id=request_id,
            message_metadata=ServerMessageMetadata(request_context=exchange),
            transport=TransportContext(kind="assent", can_send_request=False),
        )
        result = await serve_one(
            self._server, dispatch, method, params, connection=connection, lifespan_state=None
        )
        if exchange.structured is not None and "structuredContent" in result:
            result["structuredContent"] = msgspec.Raw(exchange.structured.encode())
        return result

    async def _list_tools(self, ctx: Any, params: PaginatedRequestParams | None) -> dict[str, Any]:
        """The tool list, each with name, description and inputSchema (E79)."""
        exchange: Exchange = ctx.request
        caller = Caller()
        credentials = exchange.context.credentials
        if credentials.api_key is not None or not self._open_discovery:
            refusal = await self._edge.check_key(credentials, caller, required=not self._open_discovery)
            if refusal is not None:
                raise at_gate(exchange, refusal)
        toolsets = toolsets_of(caller.principal)
        listed = {"resultType": COMPLETE, "tools": self._edge.catalog.listing(toolsets)}
        # A list that depends on the key must not be cached for others.
        return listed if toolsets is None else {**listed, "cacheScope": "private"}

    async def _call_tool(self, ctx: Any, params: CallToolRequestParams) -> dict[str, Any]:
        """Call a tool. Its payload is JSON in a text content, after its readable text if it has one (E80)."""
        exchange: Exchange = ctx.request
        arguments = exchange.odd_arguments if exchange.odd_arguments is not None else params.arguments
        answer = await self._edge.answer(params.name, arguments, exchange.context)
        if answer.reason is Reason.UNKNOWN_TOOL:
            raise MCPError(code=INVALID_PARAMS, message=answer.value["summaryForUser"], data=answer.value)
        if answer.reason is Reason.INTERNAL_ERROR:
            raise MCPError(code=SERVER_ERROR, message=answer.value["summaryForUser"], data=answer.value)
        if answer.bad_arguments and not is_version_at_least(
            exchange.version, RESULTS_CARRY_ARGUMENT_ERRORS_SINCE
        ):
            raise MCPError(code=INVALID_PARAMS, message=problem_message(answer), data=answer.value)
        if answer.at_gate and exchange.over_http:
            raise at_gate(exchange, answer)
        exchange.structured = answer.text
        return {
            "resultType": COMPLETE,
            "content": [
                {"type": "text", "text": said} for said in (answer.prose, answer.text) if said is not None
            ],
            "structuredContent": {},
            "isError": answer.is_error,
        }


def at_gate(exchange: Exchange, answer: Answer) -> MCPError:
    """Build the error for a refusal that HTTP reports as a status. It carries the recovery shape as data."""
    exchange.status = answer.status
    exchange.retry_after_seconds = answer.retry_after_seconds
    exchange.gate = answer.reason
    return MCPError(code=SERVER_ERROR, message=answer.value["summaryForUser"], data=answer.value)


def problem_message(answer: Answer) -> str:
    """Join all problems into one line: hosts of old revisions show only the message."""
    problems = "; ".join(
        f"{problem['path']}: expected {problem['expected']}, got {problem['got']}"
        for problem in answer.value["problems"]
    )
    return f"Invalid arguments: {problems}"
