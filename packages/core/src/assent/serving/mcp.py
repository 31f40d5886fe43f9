"""MCP: from the bytes of a JSON-RPC message to its reply, on the official SDK's low-level `Server`.

This module implements `tools/list` and `tools/call`, and decides everything the SDK leaves open:
invalid JSON, batches, nesting depth, malformed envelopes, S3's `initialize` without params, and the
choice between legacy and modern era. The SDK implements initialize, discover, ping, version rules
and result envelopes. Each message runs through the SDK's single-exchange driver on both transports:
no session, no handshake to wait for; `tools/call` uses only its types. Legacy results use the newest
legacy revision, so that annotations and structuredContent reach clients of every revision. No
exception text reaches the wire.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import anyio
import msgspec
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
)
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
    CallToolRequestParams,
    PaginatedRequestParams,
    RequestId,
    methods,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, is_version_at_least
from pydantic import ValidationError

from assent import __version__
from assent.engine.core.offloading import run_long_apart
from assent.extensions.hooks import PLAIN_WORDS, AgentWords
from assent.kernel.canonical import depth
from assent.kernel.limits import MAX_JSON_DEPTH, MAX_WRAPPED_DEPTH
from assent.kernel.refusals import KEY_REASONS, Reason
from assent.kernel.toolsets import DEFAULT_TOOLSETS
from assent.serving import elicitation, jsonrpc_errors
from assent.serving.arguments import check_depth
from assent.serving.edge import Answer, Credentials, Edge, RequestContext, name_scheme, toolsets_of
from assent.serving.gateway import ForeignCall
from assent.serving.instructions import SPEC_URL, instructions
from assent.serving.jsonrpc_errors import Unreadable
from assent.serving.wrapped_server import ForeignServer, find_repeated_key, read_capabilities
from assent.tools.definition import Dialog

log = logging.getLogger("assent.exchange")

FIRST_VERSION: Final = HANDSHAKE_PROTOCOL_VERSIONS[0]
"""Protocol version assumed for a client that names none (C18)."""

SERVER_ERROR: Final = -32000
"""Code of internal errors, and of refusals that HTTP reports as a status (C16)."""

STRUCTURED_CONTENT_SINCE: Final = "2025-06-18"
RESULTS_CARRY_ARGUMENT_ERRORS_SINCE: Final = "2025-11-25"

COMPLETE: Final = "complete"
"""Result type that the modern era requires. The SDK removes it from legacy results."""

CHECKED: Final = ("tools/call", "tools/list")
"""Methods whose answer depends on the key."""

LIST_TTL_MS: Final = 300_000
"""Lifetime of a cached tool list, which changes only with the server's version."""


@dataclass(slots=True)
class Exchange:
    """One message on its way through the SDK, with facts for the HTTP surface."""

    context: RequestContext
    version: str
    over_http: bool
    refused: Answer | None = None
    """The refusal that HTTP reports as a status."""
    odd_arguments: Any = None
    """Arguments that are not an object or are nested too deeply. The SDK would refuse them without
    naming the problem."""
    structured: str | None = None
    """The tool's reply as JSON text. It bypasses the SDK, which would parse it again."""
    params: Mapping[str, Any] | None = None
    """The params as they were sent."""
    foreign: ForeignCall | None = None
    """Set for a caller that sees the tools of wrapped servers."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A JSON-RPC response with HTTP status and headers. A notification has no body."""

    body: dict[str, Any] | None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


ACKNOWLEDGED: Final = Reply(None, 202)


class McpServer:
    """Answers one JSON-RPC request of either era, the same on both transports (E57)."""

    DIRECT: tuple[str, ...] = ("tools/call",)
    """Methods that are answered without the SDK's dispatcher. A server whose tools need its context has none."""

    def __init__(
        self,
        edge: Edge,
        *,
        open_discovery: bool = True,
        toolsets: Collection[str] = DEFAULT_TOOLSETS,
        words: AgentWords = PLAIN_WORDS,
        foreign: ForeignServer | None = None,
    ) -> None:
        """`foreign` serves callers that see the tools of wrapped servers."""
        self._edge = edge
        self._foreign = foreign
        self._open_discovery = open_discovery
        hint = CacheHint(ttl_ms=LIST_TTL_MS, scope="public" if open_discovery else "private")
        self._server: Server[Any] = Server(
            "assent",
            version=__version__,
            title="Assent",
            instructions=instructions(toolsets, signup_open=edge.services.limits.signup_open, words=words),
            website_url=SPEC_URL,
            cache_hints={"tools/list": hint, "server/discover": hint},
            on_list_tools=self._list_tools,  # type: ignore[arg-type]  # a ready dict is a handler result too
            on_call_tool=self._call_tool,  # type: ignore[arg-type]
        )
        self._stamp = {SERVER_INFO_META_KEY: self._server.server_info_stamp}

    async def over_http(
        self, body: bytes, headers: Sequence[tuple[str, str]], context: RequestContext
    ) -> Reply:
        """Serve one POST. Requests share no state."""
        folded = {name.lower(): value for name, value in headers}
        version = folded.get(MCP_PROTOCOL_VERSION_HEADER)
        modern = version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS
        message = parse(body)
        exchange = Exchange(context, version or FIRST_VERSION, over_http=True)
        if not self._may_pass(message, context.credentials) and not context.is_open():
            caller = await self._edge.check_key(context.credentials, required=True)
            if isinstance(caller, Answer):
                request_id = message.get("id") if isinstance(message, dict) else None
                return _mcp_failure(exchange, request_id, refuse_at_gate(exchange, caller), modern)
        if isinstance(message, Reply):
            return message
        if "id" not in message:
            return acknowledge(version if modern else None)
        if modern and (twice := find_duplicated_routing_header(headers)) is not None:
            return make_error(message["id"], HEADER_MISMATCH, f"{twice} header appears more than once")
        return await self._serve(exchange, message, body, headers=folded if modern else None, modern=modern)

    def _may_pass(self, message: dict[str, Any] | Reply, given: Credentials) -> bool:
        """Whether a message is a call of a public tool, or one whose key is checked when it is answered."""
        if isinstance(message, Reply):
            return False
        if given.api_key is not None:
            return message["method"] in CHECKED
        name = message.get("params", {}).get("name") if message["method"] == "tools/call" else None
        tool = self._edge.catalog.by_name.get(name) if isinstance(name, str) else None
        return tool is not None and tool.public

    async def over_stdio(self, line: bytes, version: str, context: RequestContext) -> Reply:
        """Serve one line. A message with the modern envelope is modern; any other uses
        `version`."""
        message = parse(line)
        if isinstance(message, Reply):
            return message
        if "id" not in message:
            return ACKNOWLEDGED
        modern = message["method"] != "initialize" and has_envelope(message.get("params"))
        exchange = Exchange(context, version, over_http=False)
        return await self._serve(exchange, message, line, headers=None, modern=modern)

    async def _serve(
        self,
        exchange: Exchange,
        message: dict[str, Any],
        body: bytes,
        *,
        headers: Mapping[str, str] | None,
        modern: bool,
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
            able = elicitation.declares_forms(route.client_capabilities, route.protocol_version)
            # A dialog that an earlier handshake declared does not hold for a message that stands alone.
            client = replace(
                exchange.context.client, ask=None, capabilities=read_capabilities(route.client_capabilities)
            )
            exchange.context = replace(exchange.context, dialog=Dialog() if able else None, client=client)
        elif method == "initialize":
            params = complete_initialize(params)
        try:
            if self._foreign is not None and self._may_be_foreign(exchange.context.credentials):
                exchange.params, exchange.foreign = params, await self._foreign.find_call(exchange.context)
            result = None
            if self._foreign is not None and exchange.foreign is not None and method == "tools/call":
                if twice := await run_long_apart(len(body), find_repeated_key, body):
                    problem = f"The message has the key {twice!r} twice. Send each key once."
                    return make_error(request_id, INVALID_PARAMS, problem)
                result = await self._foreign.call_directly(exchange.foreign, params, modern=modern)
            if result is None:
                result = await self._run(exchange, request_id, method, params, modern=envelope)
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

    def _may_be_foreign(self, given: Credentials) -> bool:
        """Whether a caller may see wrapped tools. Most do not, and are not asked about again."""
        if given.profile_id is not None or given.api_key is None:
            return given.profile_id is not None
        return self._foreign is not None and self._foreign.wraps_workspaces

    async def _run(
        self,
        exchange: Exchange,
        request_id: RequestId,
        method: str,
        params: dict[str, Any] | None,
        *,
        modern: tuple[Any, Any] | None,
    ) -> dict[str, Any]:
        """Return a request's result. Raises `MCPError`, or `ValidationError` for bad params."""
        if (
            method == "tools/call"
            and params is not None
            and not isinstance(params.get("arguments", {}), dict)
        ):
            exchange.odd_arguments = params["arguments"]
            params = {**params, "arguments": {}}
        version = LATEST_HANDSHAKE_VERSION if modern is None else exchange.version
        if method in self.DIRECT:
            if self._foreign is not None and exchange.foreign is not None:
                exchange.context = self._foreign.offer_own(exchange.context, (params or {}).get("name"))
            return await self._call_directly(exchange, version, params or {}, modern=modern is not None)
        connection = Connection.from_envelope(version, *(modern or (None, None)))
        dispatch = SingleDispatch(
            request_id=request_id,
            message_metadata=ServerMessageMetadata(request_context=exchange),
            transport=TransportContext(kind="assent", can_send_request=False),
        )
        server = self._server
        if self._foreign is not None and exchange.foreign is not None:
            server = self._foreign.server
        result = await serve_one(server, dispatch, method, params, connection=connection, lifespan_state=None)
        if exchange.structured is not None and "structuredContent" in result:
            result["structuredContent"] = msgspec.Raw(exchange.structured.encode())
        return result

    async def _call_directly(
        self, exchange: Exchange, version: str, params: dict[str, Any], *, modern: bool
    ) -> dict[str, Any]:
        """Answer `tools/call` without the SDK's dispatcher, whose session, telemetry and check of our own
        result take 0.2 ms of every call. The SDK's types still check the params."""
        methods.validate_client_request("tools/call", version, params)
        result = await self._answer_call(
            exchange, CallToolRequestParams.model_validate(params, by_name=False)
        )
        if exchange.structured is None:
            result = methods.serialize_server_result("tools/call", version, result)
        else:
            result["structuredContent"] = msgspec.Raw(exchange.structured.encode())
        if modern:
            result["_meta"] = {**self._stamp, **result.get("_meta", {})}
        else:
            result.pop("resultType", None)
        return result

    async def _list_tools(self, ctx: Any, params: PaginatedRequestParams | None) -> dict[str, Any]:
        """The tool list, each with name, description and inputSchema (E79)."""
        exchange: Exchange = ctx.request
        caller = await self._edge.check_key(exchange.context.credentials, required=not self._open_discovery)
        if isinstance(caller, Answer):
            raise refuse_at_gate(exchange, caller)
        toolsets, catalog = toolsets_of(caller), self._edge.catalog_for(caller)
        listed = {"resultType": COMPLETE, "tools": catalog.listing(toolsets)}
        # A list that depends on the key must not be cached for others.
        shared = toolsets is None and catalog is catalog.shared
        return listed if shared else {**listed, "cacheScope": "private"}

    async def _call_tool(self, ctx: Any, params: CallToolRequestParams) -> dict[str, Any]:
        """Call a tool through the SDK's dispatcher."""
        return await self._answer_call(ctx.request, params)

    async def _answer_call(self, exchange: Exchange, params: CallToolRequestParams) -> dict[str, Any]:
        """Call a tool. Its payload is JSON in a text content (E80), or readable text for it (W76)."""
        arguments = exchange.odd_arguments if exchange.odd_arguments is not None else params.arguments
        context = _with_answer(exchange.context, params)
        answer = await self._edge.answer(params.name, arguments, context, params.meta)
        if answer.required is not None:
            return elicitation.write_result(answer.required)
        if answer.reason is Reason.UNKNOWN_TOOL:
            # Some hosts show an agent the message alone.
            raise MCPError(code=INVALID_PARAMS, message=answer.value["fixActionForAgent"], data=answer.value)
        if answer.reason is Reason.INTERNAL_ERROR:
            raise to_error(SERVER_ERROR, answer)
        if answer.bad_arguments and not is_version_at_least(
            exchange.version, RESULTS_CARRY_ARGUMENT_ERRORS_SINCE
        ):
            raise MCPError(code=INVALID_PARAMS, message=problem_message(answer), data=answer.value)
        if exchange.over_http and (answer.at_gate or answer.challenge is not None):
            raise refuse_at_gate(exchange, answer)
        exchange.structured = answer.text
        structured = is_version_at_least(exchange.version, STRUCTURED_CONTENT_SINCE)
        return {
            "resultType": COMPLETE,
            "content": [{"type": "text", "text": said} for said in answer.texts(structured=structured)],
            "structuredContent": {},
            "isError": answer.is_error,
        }


def _with_answer(context: RequestContext, params: CallToolRequestParams) -> RequestContext:
    """Add the answer of a dialog, where the client repeats the call with it."""
    if context.dialog is None or context.dialog.ask is not None or params.request_state is None:
        return context
    answer = elicitation.read_responses(params.input_responses)
    return replace(context, dialog=Dialog(state=params.request_state, answer=answer))


def acknowledge(version: str | None) -> Reply:
    """A notification gets no JSON-RPC response (E81)."""
    if version is not None and (rejected := unsupported_protocol_version_rejection(version)) is not None:
        return make_error(None, rejected.code, rejected.message, rejected.data)
    return ACKNOWLEDGED


def parse(body: bytes) -> dict[str, Any] | Reply:
    """Parse one JSON-RPC request or notification. Returns an error reply if it is invalid."""
    try:
        message = msgspec.json.decode(body)
    except RecursionError:
        return _answer_unreadable(jsonrpc_errors.too_deep(body))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _answer_unreadable(jsonrpc_errors.refuse_unparsed(body))
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
            problem = f"The message nests deeper than {MAX_WRAPPED_DEPTH} levels"
            return make_error(request_id, INVALID_REQUEST, problem)
    if "method" not in message and ("result" in message or "error" in message):
        return ACKNOWLEDGED  # a response that no request waits for
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        return make_error(request_id, INVALID_REQUEST, 'A JSON-RPC request has "jsonrpc": "2.0" and a method')
    if not isinstance(message.get("params", {}), dict):
        return make_error(request_id, INVALID_PARAMS, "params must be an object")
    request: dict[str, Any] = message
    return request


def _answer_unreadable(why: Unreadable) -> Reply:
    return make_error(why.request_id, PARSE_ERROR, f"Parse error: {why.problem}", why.data())


def with_bounded_arguments(message: dict[str, Any]) -> dict[str, Any]:
    """Check each tool argument separately, so that a refusal for depth can name the argument."""
    params = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict):
        return message
    arguments = check_depth(params.get("arguments", {}))
    return {**message, "params": {**params, "arguments": arguments}}


def complete_initialize(params: Any) -> dict[str, Any]:
    """Fill in missing params of `initialize`, since S3's example sends none (C18, E77)."""
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


def _mcp_failure(exchange: Exchange, request_id: RequestId | None, error: MCPError, modern: bool) -> Reply:
    raised = error.error
    if (answer := exchange.refused) is None:
        code = SERVER_ERROR if raised.code == INTERNAL_ERROR else raised.code
        reply = make_error(request_id, code, raised.message, raised.data)
        # Legacy clients read the error from a 200; the modern era maps codes to statuses.
        return reply if modern else Reply(reply.body)
    headers = {"WWW-Authenticate": name_scheme(answer.reason)} if answer.reason in KEY_REASONS else {}
    if answer.challenge is not None and exchange.context.sign_in is not None:
        headers["WWW-Authenticate"] = exchange.context.sign_in(answer.challenge)
    if answer.retry_after_seconds is not None:
        headers["Retry-After"] = str(answer.retry_after_seconds)
    body = make_error(request_id, raised.code, raised.message, raised.data).body
    return Reply(body, answer.status, headers)


def refuse_at_gate(exchange: Exchange, answer: Answer) -> MCPError:
    """Build the error for a refusal that HTTP reports as a status, with its recovery."""
    exchange.refused = answer
    return to_error(SERVER_ERROR, answer)


def to_error(code: int, answer: Answer) -> MCPError:
    recovery = answer.value
    return MCPError(code=code, message=recovery["summaryForUser"], data=recovery)


def problem_message(answer: Answer) -> str:
    """Join all problems into one line: hosts of old revisions show only the message."""
    problems = "; ".join(
        f"{problem['path']}: expected {problem['expected']}, got {problem['got']}"
        for problem in answer.value["problems"]
    )
    return f"Invalid arguments: {problems}"


# The SDK's view of a message that gets exactly one response, with no way back to the client.


@dataclass
class SingleDispatch:
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
