"""JSON-RPC handler shared by both transports: from the bytes of a message to its reply.

Handles everything the SDK leaves open: invalid JSON, batches, nesting depth, malformed envelopes, S3's `initialize`
without params, and the choice between legacy and modern era. No exception text reaches the wire.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
)
from mcp_types import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
    RequestId,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from assent.kernel.canonical import depth
from assent.kernel.limits import MAX_JSON_DEPTH, MAX_WRAPPED_DEPTH
from assent.kernel.refusals import KEY_REASONS
from assent.serving import unreadable
from assent.serving.arguments import check_depth
from assent.serving.edge import RequestContext
from assent.serving.mcp import SERVER_ERROR, Exchange, McpServer
from assent.serving.unreadable import Unreadable

log = logging.getLogger("assent.exchange")

FIRST_VERSION: Final = HANDSHAKE_PROTOCOL_VERSIONS[0]
"""Protocol version assumed for a client that names none (C18)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A JSON-RPC response and, for HTTP, its status and headers. The body is None for an accepted notification."""

    body: dict[str, Any] | None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


ACKNOWLEDGED: Final = Reply(None, 202)


class JsonRpcHandler:
    """Turns received bytes into a reply. Independent of the transport."""

    def __init__(self, server: McpServer) -> None:
        self._server = server

    async def over_http(
        self, body: bytes, headers: Sequence[tuple[str, str]], context: RequestContext
    ) -> Reply:
        """Serve one POST. Requests share no state."""
        folded = {name.lower(): value for name, value in headers}
        version = folded.get(MCP_PROTOCOL_VERSION_HEADER)
        modern = version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS
        message = parse(body)
        if isinstance(message, Reply):
            return message
        if "id" not in message:
            return self._notified(version if modern else None)
        if modern and (twice := find_duplicated_routing_header(headers)) is not None:
            return make_error(message["id"], HEADER_MISMATCH, f"{twice} header appears more than once")
        exchange = Exchange(context, version or FIRST_VERSION, over_http=True)
        return await self._serve(exchange, message, headers=folded if modern else None, modern=modern)

    async def over_stdio(self, line: bytes, version: str, context: RequestContext) -> Reply:
        """Serve one line. A message with the modern envelope is modern; any other uses `version`."""
        message = parse(line)
        if isinstance(message, Reply):
            return message
        if "id" not in message:
            return ACKNOWLEDGED
        modern = message["method"] != "initialize" and has_envelope(message.get("params"))
        exchange = Exchange(context, version, over_http=False)
        return await self._serve(exchange, message, headers=None, modern=modern)

    def _notified(self, version: str | None) -> Reply:
        """A notification gets no JSON-RPC response (E81)."""
        if version is not None and (rejected := unsupported_protocol_version_rejection(version)) is not None:
            return make_error(None, rejected.code, rejected.message, rejected.data)
        return ACKNOWLEDGED

    async def _serve(
        self, exchange: Exchange, message: dict[str, Any], *, headers: Mapping[str, str] | None, modern: bool
    ) -> Reply:
        request_id: RequestId = message["id"]
        method, params = message["method"], message.get("params")
        envelope: tuple[Any, Any] | None = None
        if modern:
            route = classify_inbound_request(message, headers=headers)
            if isinstance(route, InboundLadderRejection):
                return make_error(request_id, route.code, route.message, route.data)
            exchange.version = route.protocol_version
            envelope = (route.client_info, route.client_capabilities)
        elif method == "initialize":
            params = complete_initialize(params)
        try:
            result = await self._server.serve(exchange, request_id, method, params, modern=envelope)
        except MCPError as error:
            return _mcp_failure(exchange, request_id, error, modern)
        except ValidationError:
            # The SDK's own message would echo the client's input.
            return make_error(
                request_id, INVALID_PARAMS, f"The params of {method} do not fit this protocol version"
            )
        except Exception:
            log.exception("%s failed", method)
            return make_error(request_id, SERVER_ERROR, "The server made a mistake; its log has the details")
        return Reply({"jsonrpc": "2.0", "id": request_id, "result": result})


def parse(body: bytes) -> dict[str, Any] | Reply:
    """Parse one JSON-RPC request or notification. Returns an error reply if it is invalid."""
    try:
        message = msgspec.json.decode(body)
    except RecursionError:
        return _answer_unreadable(unreadable.too_deep(body))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _answer_unreadable(unreadable.not_taken(body))
    if isinstance(message, list):
        return make_error(
            None, INVALID_REQUEST, "Batches are not served: send one JSON-RPC message at a time"
        )
    if not isinstance(message, dict):
        return make_error(None, INVALID_REQUEST, "A JSON-RPC message is an object")
    request_id = message.get("id")
    if "id" in message and (isinstance(request_id, bool) or not isinstance(request_id, (str, int))):
        return make_error(None, INVALID_REQUEST, "id must be a string or an integer")
    # Counting brackets decides most messages cheaply.
    if body.count(b"[") + body.count(b"{") > MAX_JSON_DEPTH and depth(message) > MAX_JSON_DEPTH:
        message = with_bounded_arguments(message)
        if depth(message) > MAX_WRAPPED_DEPTH:
            told = f"The message nests deeper than {MAX_WRAPPED_DEPTH} levels"
            return make_error(request_id, INVALID_REQUEST, told)
    if "method" not in message and ("result" in message or "error" in message):
        return ACKNOWLEDGED  # a response, although this server sends no requests
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        return make_error(request_id, INVALID_REQUEST, 'A JSON-RPC request has "jsonrpc": "2.0" and a method')
    if not isinstance(message.get("params", {}), dict):
        return make_error(request_id, INVALID_PARAMS, "params must be an object")
    request: dict[str, Any] = message
    return request


def _answer_unreadable(why: Unreadable) -> Reply:
    return make_error(why.request_id, PARSE_ERROR, f"Parse error: {why.told}", why.data())


def with_bounded_arguments(message: dict[str, Any]) -> dict[str, Any]:
    """Check each tool argument separately, so that a refusal for depth can name the argument."""
    params = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict):
        return message
    return {
        **message,
        "params": {**params, "arguments": check_depth(params.get("arguments", {}))},
    }


def complete_initialize(params: Any) -> dict[str, Any]:
    """Fill in the missing params of `initialize` and keep the given ones: S3's example sends none (C18, E77)."""
    given = params if isinstance(params, dict) else {}
    return {
        "protocolVersion": FIRST_VERSION,
        "capabilities": {},
        "clientInfo": {"name": "unnamed", "version": "0"},
        **given,
    }


def has_envelope(params: Any) -> bool:
    """Whether a message carries the per-request envelope of the modern era."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta


def make_error(request_id: Any, code: int, message: str, data: Any = None) -> Reply:
    """Build a JSON-RPC error with the HTTP status that the protocol assigns to it (E87)."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return Reply(
        {"jsonrpc": "2.0", "id": request_id, "error": error}, status=ERROR_CODE_HTTP_STATUS.get(code, 200)
    )


def _mcp_failure(exchange: Exchange, request_id: RequestId, error: MCPError, modern: bool) -> Reply:
    raised = error.error
    if exchange.gate is None:
        code = SERVER_ERROR if raised.code == INTERNAL_ERROR else raised.code
        reply = make_error(request_id, code, raised.message, raised.data)
        # Legacy clients read the error from a 200; the modern era maps codes to statuses.
        return reply if modern else Reply(reply.body)
    headers = {"WWW-Authenticate": 'Bearer realm="assent"'} if exchange.gate in KEY_REASONS else {}
    if exchange.retry_after_seconds is not None:
        headers["Retry-After"] = str(exchange.retry_after_seconds)
    body = make_error(request_id, raised.code, raised.message, raised.data).body
    return Reply(body, exchange.status or 200, headers)
