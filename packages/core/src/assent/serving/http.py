"""HTTP: the guard around every route, and the endpoints of MCP and REST.

Any page in the user's browser can reach a local server. The guard therefore refuses a foreign Host
(DNS rebinding) or Origin on every route, before the body is read. `POST /api/mcp` (also `/mcp`) is
JSON-RPC; requests share no state. `GET` there returns metadata (C17). `POST /api/tools/{name}`
calls a tool with the body as arguments, returns its payload and uses HTTP statuses.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assent.kernel.ids import ACCESS_FACTS, REQUEST_ID
from assent.kernel.limits import MAX_BODY_BYTES, MAX_JSON_DEPTH
from assent.kernel.refusals import KEY_REASONS, Refusal, bad_argument
from assent.serving.arguments import check_depth
from assent.serving.edge import Answer, Credentials, Edge, RequestContext, answer_refusal, name_scheme
from assent.serving.gateway import ClientPort
from assent.serving.mcp import McpServer, Reply, make_error
from assent.serving.oauth.resource import ProtectedResource
from assent.tools.definition import Peer

access = logging.getLogger("assent.access")

INVALID_REQUEST: Final = -32600
EVENTS: Final = "text/event-stream"
EVENT_HEADERS: Final = (
    ("content-type", EVENTS),
    ("cache-control", "no-cache"),
    ("x-accel-buffering", "no"),
)
PROGRESS: Final = b'"progressToken"'
MAX_QUEUED_NOTIFICATIONS: Final = 100
MAX_CLIENT_CHARS: Final = 100
TRACE_HEADERS: Final = ("traceparent", "tracestate")
"""Of a client's name in the access log."""
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_BEARER: Final = "bearer "
_HOST: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(?::(\d{1,5}))?")


class AllowedPeers:
    """The accepted Host and Origin values: loopback, the base URL, and those of the settings."""

    def __init__(self, base_url: str, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> None:
        base = urlsplit(base_url)
        self._hosts = {base.netloc.lower(), (base.hostname or "").lower(), *(host.lower() for host in hosts)}
        self._origins = {f"{base.scheme}://{base.netloc}".lower(), *(origin.lower() for origin in origins)}

    def host(self, value: str) -> bool:
        match = _HOST.fullmatch(value.lower())
        return match is not None and (
            match[1] in LOOPBACK or value.lower() in self._hosts or match[1] in self._hosts
        )

    def origin(self, value: str) -> bool:
        scheme, _, authority = value.lower().partition("://")
        match = _HOST.fullmatch(authority)
        loopback = match is not None and match[1] in LOOPBACK and scheme in ("http", "https")
        return loopback or value.lower() in self._origins


PROBES: Final = ("/healthz", "/readyz", "/metrics")
"""Answered whatever Host they name: a kubelet and Prometheus use the address of a pod."""


class Guard:
    """The outermost layer of the HTTP surface."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        peers: AllowedPeers,
        counts: Counter[tuple[str, str]],
        draining: Callable[[], bool],
    ) -> None:
        self._app = app
        self._draining = draining
        self._peers = peers
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        request_id = os.urandom(8).hex()
        REQUEST_ID.set(request_id)
        facts: dict[str, str] = {}
        ACCESS_FACTS.set(facts)
        scope.setdefault("state", {})["request_id"] = request_id
        started = time.perf_counter()
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append((b"x-request-id", request_id.encode()))
                if self._draining():
                    message["headers"].append((b"connection", b"close"))
            await send(message)

        try:
            if scope["path"] not in PROBES and (len(hosts) != 1 or not self._peers.host(hosts[0])):
                await respond(watched, 421, {"error": "This server does not answer for that Host."})
            elif not all(self._peers.origin(origin) for origin in origins):
                await respond(watched, 403, {"error": "Requests from that Origin are not accepted."})
            else:
                await self._app(scope, receive, watched)
        finally:
            self._counts[(scope["method"], f"{status // 100}xx")] += 1
            access.info(
                "%s %s %d",
                scope["method"],
                scope["path"],
                status,
                extra={
                    "request_id": request_id,
                    "ms": round((time.perf_counter() - started) * 1000, 1),
                    **facts,
                    **({"client": _name_client(scope)} if facts else {}),
                },
            )


def _name_client(scope: Scope) -> str:
    """What the program of a request calls itself, cut for the log."""
    said = next((value for name, value in scope["headers"] if name == b"user-agent"), b"")
    text: str = said.decode("latin-1")
    return text[:MAX_CLIENT_CHARS]


async def respond(
    send: Send,
    status: int,
    body: object,
    headers: Iterable[tuple[str, str]] = (),
    *,
    content_type: str = "application/json",
) -> None:
    """Send one complete response. A body that is not bytes is sent as JSON, None as empty."""
    raw = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
    lines = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    if raw or status not in (202, 204):
        lines += [(b"content-type", content_type.encode()), (b"content-length", str(len(raw)).encode())]
    else:
        lines.append((b"content-length", b"0"))
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": raw})


class BodyTooLarge(Exception):  # noqa: N818 - a state of the request
    """The request body is over the limit."""


class BodyCutShort(BodyTooLarge):
    """The client disconnected before its body was complete. The request must have no effect."""


def read_headers(scope: Scope) -> list[tuple[str, str]]:
    """Return the request headers without surrounding white space (RFC 9110 §5.5)."""
    return [
        (name.decode("latin-1"), value.decode("latin-1").strip(" \t")) for name, value in scope["headers"]
    ]


def credentials_in(headers: list[tuple[str, str]]) -> Credentials:
    """Read the Bearer key. Any other Authorization value counts as a wrong key."""
    lines = [value for name, value in headers if name == "authorization"]
    if not lines:
        return Credentials()
    # Proxies disagree on which of two lines counts, so neither does.
    good = len(lines) == 1 and lines[0][: len(_BEARER)].lower() == _BEARER
    return Credentials(api_key=lines[0][len(_BEARER) :].strip() if good else "")


def make_context(
    scope: Scope, receive: Receive, headers: list[tuple[str, str]], *, trust_proxy: bool
) -> RequestContext:
    """Return the context of a request whose body was read."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    address = client_address(scope, trust_proxy=trust_proxy)
    return RequestContext(
        credentials_in(headers),
        address,
        scope["state"]["request_id"],
        Peer(gone),
        trace={name: value for name, value in headers if name in TRACE_HEADERS},
    )


def client_address(scope: Scope, *, trust_proxy: bool) -> str:
    """The client's address, for per-address limits. `X-Forwarded-For` counts only if the settings
    trust the proxy.

    The proxy appends its entry last, on the same line or on a new one. Earlier entries come from
    the client.
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

    def __init__(
        self,
        messages: McpServer,
        metadata: Callable[[Scope], Awaitable[bytes]],
        *,
        trust_proxy: bool,
        resource: ProtectedResource | None = None,
    ) -> None:
        """`resource` tells clients how to sign in; None if they cannot."""
        self._messages = messages
        self._metadata = metadata
        self._trust_proxy = trust_proxy
        self._resource = resource

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = read_headers(scope)
        accept = ",".join(value.lower() for name, value in headers if name == "accept")
        only_events = EVENTS in accept and not _accepts_json(accept)
        if scope["method"] in ("GET", "HEAD") and not only_events:
            body = await self._metadata(scope) if scope["method"] == "GET" else b""
            await respond(
                send, 200, body, [("Cache-Control", "private, no-store"), ("Vary", "Authorization")]
            )
            return
        if scope["method"] != "POST":
            # GET for an event stream, DELETE of a session: neither exists on a server without
            # sessions.
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
        context = make_context(scope, receive, headers, trust_proxy=self._trust_proxy)
        if (resource := self._resource) is not None:
            sign_in, is_open = partial(resource.challenge, scope), partial(resource.is_open, scope)
            context = replace(context, is_open=is_open, sign_in=sign_in)
        if PROGRESS in body and EVENTS in accept:
            await self._answer_with_progress(send, body, headers, context, only_events=only_events)
            return
        reply = await self._messages.over_http(body, headers, context)
        await _send_reply(send, reply, as_event=only_events)

    async def _answer_with_progress(
        self,
        send: Send,
        body: bytes,
        headers: list[tuple[str, str]],
        context: RequestContext,
        *,
        only_events: bool,
    ) -> None:
        """Answer as an event stream, if the call sends notifications before its answer."""
        told: asyncio.Queue[dict[str, Any]] = asyncio.Queue(MAX_QUEUED_NOTIFICATIONS)

        def notify(method: str, params: dict[str, Any]) -> None:
            with contextlib.suppress(asyncio.QueueFull):  # progress may be lost, an answer may not
                told.put_nowait({"jsonrpc": "2.0", "method": method, "params": params})

        context = replace(context, client=ClientPort(notify))
        answering = asyncio.create_task(self._messages.over_http(body, headers, context))
        first = asyncio.create_task(told.get())
        try:
            await asyncio.wait({answering, first}, return_when=asyncio.FIRST_COMPLETED)
            if not first.done():
                await _send_reply(send, answering.result(), as_event=only_events)
                return
            lines = [(name.encode(), value.encode()) for name, value in EVENT_HEADERS]
            await send({"type": "http.response.start", "status": 200, "headers": lines})
            while first.done():
                await send({"type": "http.response.body", "body": _event(first.result()), "more_body": True})
                first = asyncio.create_task(told.get())
                await asyncio.wait({answering, first}, return_when=asyncio.FIRST_COMPLETED)
            reply = answering.result()
            await send({"type": "http.response.body", "body": _event(reply.body) if reply.body else b""})
        finally:
            answering.cancel()
            first.cancel()


async def _send_reply(send: Send, reply: Reply, *, as_event: bool) -> None:
    if reply.body is None or not as_event:
        await respond(send, reply.status, reply.body, reply.headers.items())
        return
    lines = [*reply.headers.items(), *EVENT_HEADERS[1:]]
    await respond(send, reply.status, _event(reply.body), lines, content_type=EVENTS)


def _event(message: dict[str, Any]) -> bytes:
    return b"event: message\r\ndata: " + msgspec.json.encode(message) + b"\r\n\r\n"


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
            refusal = bad_argument("body", f"at most {MAX_BODY_BYTES} bytes", "more")
            await self._send(send, answer_refusal(refusal, bad_arguments=True), status=413)
            return
        except Refusal as refusal:
            await self._send(send, answer_refusal(refusal, bad_arguments=True))
            return
        context = make_context(scope, receive, read_headers(scope), trust_proxy=self._trust_proxy)
        answer = await self._edge.answer(scope["path_params"]["name"], arguments, context)
        await self._send(send, answer)

    async def _send(self, send: Send, answer: Answer, status: int | None = None) -> None:
        headers = [("Cache-Control", "no-store")]
        if answer.reason in KEY_REASONS:
            headers.append(("WWW-Authenticate", name_scheme(answer.reason)))
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
        raise bad_argument("body", "one JSON object", "something that is no JSON") from None
    # Counting brackets decides most bodies cheaply.
    return check_depth(arguments) if body.count(b"[") + body.count(b"{") > MAX_JSON_DEPTH else arguments
