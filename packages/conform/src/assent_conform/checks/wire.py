"""A caller of the server under test: JSON-RPC in both protocol eras, over any wire.

A `Wire` carries one message and brings the answer: `HttpWire`, `StdioWire`. A `Server` is one
caller on a wire. If the server limits the rate, it waits as told (E97), because a run of all checks
makes more calls than a minute allows. It does not judge answers.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import httpx
import msgspec

ENDPOINT: Final = "/api/mcp"
LEGACY: Final = "2025-11-25"
MODERN: Final = "2026-07-28"
CLIENT: Final = {"name": "assent-conform", "version": "1"}
MAX_WAIT_SECONDS: Final = 65.0
MAX_WAITED_SECONDS: Final = 1_800.0
RATE_LIMITED: Final = "rate_limited"
_META: Final = "io.modelcontextprotocol/"


class WireAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A JSON-RPC answer, over HTTP with status and headers. `payload` is a result or an error's
    data."""

    message: dict[str, Any] | None
    text: str
    status: int = 200
    headers: dict[str, str] = {}

    @property
    def result(self) -> dict[str, Any]:
        return _as_object((self.message or {}).get("result"))

    @property
    def error(self) -> dict[str, Any]:
        return _as_object((self.message or {}).get("error"))

    @property
    def refused(self) -> bool:
        return bool(self.error) or self.result.get("isError") is True

    @property
    def payload(self) -> dict[str, Any]:
        """The first text part that is a JSON object."""
        if self.error:
            return _as_object(self.error.get("data"))
        parts = self.result.get("content")
        for part in parts if isinstance(parts, list) else []:
            payload = decode_object(part.get("text") if isinstance(part, dict) else None)
            if payload is not None:
                return payload
        return _as_object(self.result.get("structuredContent"))

    @property
    def first_payload(self) -> dict[str, Any]:
        """The payload without the replay mark."""
        return {name: value for name, value in self.payload.items() if name != "replay"}

    @property
    def reason(self) -> str | None:
        found = self.payload.get("reason")
        return found if isinstance(found, str) else None


def _as_object(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def decode_object(text: object) -> dict[str, Any] | None:
    """Decode JSON text. Returns None unless it is an object."""
    if not isinstance(text, str | bytes):
        return None
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


class Unreachable(Exception):  # noqa: N818 - a state of the world
    """The server gives no answer. The message says to what, and why."""


class Throttled(Exception):  # noqa: N818 - what a server did
    """The server limits the rate for longer than a run waits."""


class Wire(Protocol):
    """Carries messages to the server. It is opened once, and opens again after a loss."""

    name: str
    """Address or command, for the report."""
    modern: bool
    """Whether the server serves messages without a handshake only. Known once the wire is open."""

    async def open(self) -> None:
        """Reach the server. Raises `Unreachable`."""

    async def exchange(self, body: bytes, headers: Mapping[str, str]) -> WireAnswer:
        """Send one message and return its answer. Raises `Unreachable`."""

    async def begin(self, body: bytes, headers: Mapping[str, str]) -> WireAnswer:
        """As `exchange`, as the first message of a connection of its own."""

    async def get(self, path: str) -> httpx.Response:
        """Send a GET without key and cookie. Raises `Unreachable` where there is no HTTP."""

    def stray_lines(self) -> Sequence[str]:
        """Return what the server wrote between its messages."""

    async def close(self) -> None:
        """Leave nothing behind."""


class Patience:
    """Waits where the server asks for it. The callers of a run share one, so that all waits of a
    run together have a bound."""

    def __init__(
        self,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        announce: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self._sleep = sleep
        self._announce = announce
        self._waited_seconds = 0.0
        self.first_refusal: WireAnswer | None = None

    async def wait(self, said: object) -> None:
        """Wait as long as told, at least a second. Raises `Throttled` if a run waited enough."""
        if self._waited_seconds >= MAX_WAITED_SECONDS:
            raise Throttled(
                f"the server still refuses it as {RATE_LIMITED} after {MAX_WAITED_SECONDS / 60:g} minutes "
                "of waiting; raise its limit for this run, or run fewer checks (--rule)"
            )
        seconds = _seconds(said)
        self._waited_seconds += seconds
        self._announce(seconds)
        await self._sleep(seconds)


def _seconds(said: object) -> float:
    try:
        seconds = float(said)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 1.0
    return min(max(seconds, 1.0), MAX_WAIT_SECONDS) if not math.isnan(seconds) else 1.0


class Server:
    """The server under test, as one caller."""

    def __init__(self, wire: Wire, patience: Patience, key: str | None = None) -> None:
        self.wire = wire
        self.patience = patience
        self.key = key
        self._ids = itertools.count(1)

    def as_caller(self, key: str | None) -> Server:
        """Return another caller of the same server, where a key goes with every message."""
        return Server(self.wire, self.patience, key)

    async def get(self, path: str) -> httpx.Response:
        """Send a GET without key and cookie. Follows no redirect."""
        while (response := await self.wire.get(path)).status_code == httpx.codes.TOO_MANY_REQUESTS:
            await self.patience.wait(response.headers.get("retry-after"))
        return response

    async def send(self, body: bytes) -> WireAnswer:
        """Send bytes as they are, with the headers of a legacy message."""
        return await self.wire.exchange(body, self._headers({"MCP-Protocol-Version": LEGACY}))

    async def initialize(self, revision: str) -> WireAnswer:
        """Ask for a handshake in this revision, on a connection that had none."""
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
        body = encode_request("initialize", params, next(self._ids))
        return await self.wire.begin(body, self._headers({}))

    async def rpc(
        self, method: str, params: dict[str, Any] | None = None, *, modern: bool | None = None
    ) -> WireAnswer:
        """Send a request of the server's own era, or of the named one."""
        modern = self.wire.modern if modern is None else modern
        headers = {"MCP-Protocol-Version": MODERN if modern else LEGACY}
        if modern:
            headers["Mcp-Method"] = method
            if params is not None and isinstance(params.get("name"), str):
                headers["Mcp-Name"] = params["name"]
            params = add_envelope(params)
        body = encode_request(method, params, next(self._ids))
        while (answer := await self.wire.exchange(body, self._headers(headers))).reason == RATE_LIMITED:
            self.patience.first_refusal = self.patience.first_refusal or answer
            await self.patience.wait(
                answer.payload.get("retryAfterSeconds") or answer.headers.get("retry-after")
            )
        return answer

    async def call(self, tool: str, **arguments: Any) -> WireAnswer:
        return await self.rpc("tools/call", {"name": tool, "arguments": arguments})

    def _headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        given = {"Authorization": f"Bearer {self.key}"} if self.key is not None else {}
        return {**headers, **given}


def encode_request(method: str, params: dict[str, Any] | None, request_id: int | str) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return msgspec.json.encode(message if params is None else {**message, "params": params})


def add_envelope(params: dict[str, Any] | None) -> dict[str, Any]:
    """Add what a message without a handshake says about its client."""
    envelope = {
        f"{_META}protocolVersion": MODERN,
        f"{_META}clientInfo": CLIENT,
        f"{_META}clientCapabilities": {},
    }
    return {**(params or {}), "_meta": envelope}


METADATA: Final = "/.well-known/mcp.json"
ANSWER_SECONDS: Final = 60.0
MAX_ANSWER_BYTES: Final = 16 << 20
_OF_THE_TRANSFER: Final = frozenset(("content-encoding", "content-length", "transfer-encoding"))


class HttpWire:
    """A server behind an address. Cookies are never kept, and no redirect is followed."""

    modern = False

    def __init__(
        self,
        url: str,
        *,
        seconds: float = ANSWER_SECONDS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.name = url.rstrip("/").removesuffix(ENDPOINT)
        self._seconds = seconds
        self._http = httpx.AsyncClient(base_url=self.name, timeout=seconds, transport=transport)

    async def open(self) -> None:
        await self.get(METADATA)

    async def exchange(self, body: bytes, headers: Mapping[str, str]) -> WireAnswer:
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **headers,
        }
        response = await self._request("POST", ENDPOINT, content=body, headers=sent)
        return WireAnswer(
            status=response.status_code,
            headers={name.lower(): value for name, value in response.headers.items()},
            message=_message(response),
            text=response.text,
        )

    async def begin(self, body: bytes, headers: Mapping[str, str]) -> WireAnswer:
        return await self.exchange(body, headers)

    async def get(self, path: str) -> httpx.Response:
        return await self._request("GET", path)

    def stray_lines(self) -> Sequence[str]:
        return ()

    async def close(self) -> None:
        await self._http.aclose()

    async def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Return the whole response. An endless one is cut off by its size and by the time."""
        self._http.cookies.clear()
        asked = f"{method} {self.name}{path.partition('?')[0]}"
        content = bytearray()
        try:
            async with asyncio.timeout(self._seconds), self._http.stream(method, path, **options) as response:
                async for chunk in response.aiter_bytes():
                    content += chunk
                    if len(content) > MAX_ANSWER_BYTES:
                        raise Unreachable(f"{asked}: more than {MAX_ANSWER_BYTES >> 20} MiB")
        except TimeoutError as error:
            raise Unreachable(f"{asked}: no whole answer within {self._seconds:g} s") from error
        except httpx.HTTPError as error:
            raise Unreachable(f"{asked}: {error or type(error).__name__}") from error
        headers = [item for item in response.headers.multi_items() if item[0] not in _OF_THE_TRANSFER]
        return httpx.Response(response.status_code, headers=headers, content=bytes(content))


def _message(response: httpx.Response) -> dict[str, Any] | None:
    """Return the JSON-RPC message from a plain body or from the only event of a stream."""
    text = response.text
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        data = [line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:")]
        text = data[-1] if data else ""
    return decode_object(text)
