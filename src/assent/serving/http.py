"""MCP and REST over HTTP: two small ASGI apps around the JSON-RPC handler and the edge.

`POST /api/mcp` (also `/mcp`) is JSON-RPC; requests share no state. `GET` there returns metadata (C17). `POST
/api/tools/{name}` calls a tool with the body as arguments, returns its payload and uses HTTP statuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from starlette.types import Receive, Scope, Send

from assent.kernel.limits import MAX_BODY_BYTES
from assent.kernel.refusals import KEY_REASONS, Problem, Reason, Refusal
from assent.serving.arguments import check_depth
from assent.serving.edge import Answer, Credentials, Edge, RequestContext, answer_refusal
from assent.serving.guard import respond
from assent.serving.mcp import McpServer, make_error
from assent.tools.definition import Peer

INVALID_REQUEST: Final = -32600
_BEARER: Final = "bearer "


class BodyTooLarge(Exception):  # noqa: N818 - a state of the request
    """The request body is over the limit."""


class BodyCutShort(BodyTooLarge):
    """The client disconnected before its body was complete. The request must have no effect."""


def headers_of(scope: Scope) -> list[tuple[str, str]]:
    """The request headers, without the white space that the parser leaves around values (RFC 9110 §5.5)."""
    return [
        (name.decode("latin-1"), value.decode("latin-1").strip(" \t")) for name, value in scope["headers"]
    ]


def credentials_in(headers: list[tuple[str, str]]) -> Credentials:
    """Read the Bearer key, if present. Any other Authorization value counts as a wrong key, not as a missing one."""
    lines = [value for name, value in headers if name == "authorization"]
    if not lines:
        return Credentials()
    # Proxies disagree on which of two lines counts, so neither does.
    good = len(lines) == 1 and lines[0][: len(_BEARER)].lower() == _BEARER
    return Credentials(api_key=lines[0][len(_BEARER) :].strip() if good else "")


def context_of(
    scope: Scope, receive: Receive, headers: list[tuple[str, str]], *, trust_proxy: bool
) -> RequestContext:
    """The context of a request whose body was read. The only message still to come is its disconnect."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    address = client_address(scope, trust_proxy=trust_proxy)
    return RequestContext(credentials_in(headers), address, scope["state"]["request_id"], Peer(gone))


def client_address(scope: Scope, *, trust_proxy: bool) -> str:
    """The client's address, for per-address limits. `X-Forwarded-For` counts only if the settings trust the proxy.

    The proxy appends its entry last, on the same line or on a new one. Earlier entries come from the client.
    """
    if trust_proxy:
        said = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        if said:
            return str(said[-1].decode("latin-1").split(",")[-1].strip())
    client = scope.get("client")
    return client[0] if client else "unknown"


async def read_body(scope: Scope, receive: Receive, most: int = MAX_BODY_BYTES) -> bytes:
    """Read the whole body. Raises `BodyTooLarge` as soon as the limit is exceeded."""
    for name, value in scope["headers"]:
        if name == b"content-length" and (not value.isdigit() or int(value) > most):
            raise BodyTooLarge
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BodyCutShort
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > most:
            raise BodyTooLarge
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


class McpEndpoint:
    """`/api/mcp` and `/mcp`: JSON-RPC 2.0 over POST (E58, E75)."""

    def __init__(self, messages: McpServer, metadata: Callable[[], bytes], *, trust_proxy: bool) -> None:
        self._messages = messages
        self._metadata = metadata
        self._trust_proxy = trust_proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = headers_of(scope)
        accept = ",".join(value.lower() for name, value in headers if name == "accept")
        only_events = "text/event-stream" in accept and not _accepts_json(accept)
        if scope["method"] in ("GET", "HEAD") and not only_events:
            await respond(send, 200, self._metadata() if scope["method"] == "GET" else b"")
            return
        if scope["method"] != "POST":
            # GET for an event stream, DELETE of a session: neither exists on a server without sessions.
            await respond(send, 405, {"error": "POST a JSON-RPC message here."}, [("Allow", "POST, GET")])
            return
        if accept and not only_events and not _accepts_json(accept):
            await respond(send, 406, {"error": "Answers are application/json (or text/event-stream)."})
            return
        try:
            body = await read_body(scope, receive)
        except BodyTooLarge:
            too_large = make_error(None, INVALID_REQUEST, f"The body is over {MAX_BODY_BYTES} bytes")
            await respond(send, 413, too_large.body)
            return
        context = context_of(scope, receive, headers, trust_proxy=self._trust_proxy)
        reply = await self._messages.over_http(body, headers, context)
        if reply.body is not None and only_events:
            event = b"event: message\r\ndata: " + msgspec.json.encode(reply.body) + b"\r\n\r\n"
            lines = [*reply.headers.items(), ("Cache-Control", "no-cache"), ("X-Accel-Buffering", "no")]
            await respond(send, reply.status, event, lines, content_type="text/event-stream")
            return
        await respond(send, reply.status, reply.body, reply.headers.items())


def _accepts_json(accept: str) -> bool:
    return "application/json" in accept or "application/*" in accept or "*/*" in accept


class RestEndpoint:
    """`POST /api/tools/{name}`."""

    def __init__(self, edge: Edge, *, trust_proxy: bool) -> None:
        self._edge = edge
        self._trust_proxy = trust_proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await respond(send, 405, {"error": "POST the arguments as a JSON object."}, [("Allow", "POST")])
            return
        try:
            arguments = rest_arguments(await read_body(scope, receive))
        except BodyTooLarge:
            problem = Problem("body", f"at most {MAX_BODY_BYTES} bytes", "more")
            await self._send(send, _validation(problem), status=413)
            return
        except Refusal as refusal:
            await self._send(send, answer_refusal(refusal, bad_arguments=True))
            return
        context = context_of(scope, receive, headers_of(scope), trust_proxy=self._trust_proxy)
        answer = await self._edge.answer(scope["path_params"]["name"], arguments, context)
        await self._send(send, answer)

    async def _send(self, send: Send, answer: Answer, status: int | None = None) -> None:
        headers = [("Cache-Control", "no-store")]
        if answer.reason in KEY_REASONS:
            headers.append(("WWW-Authenticate", 'Bearer realm="assent"'))
        if answer.retry_after_seconds is not None:
            headers.append(("Retry-After", str(answer.retry_after_seconds)))
        await respond(send, status or answer.status, answer.text.encode(), headers)


def rest_arguments(body: bytes) -> Any:
    """Parse the arguments object. An empty body means no arguments."""
    if not body.strip():
        return {}
    try:
        arguments = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise Refusal(
            Reason.VALIDATION_ERROR,
            problems=[Problem("body", "one JSON object", "something that is no JSON")],
        ) from None
    return check_depth(arguments)


def _validation(problem: Problem) -> Answer:
    return answer_refusal(Refusal(Reason.VALIDATION_ERROR, problems=[problem]), bad_arguments=True)
