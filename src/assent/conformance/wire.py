"""A client of the server under test: JSON-RPC over HTTP, and plain requests.

If the server is busy it waits once (E97), because a run of all checks makes more calls than a
minute allows. It does not judge answers.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any, Final

import httpx
import msgspec

ENDPOINT: Final = "/api/mcp"
REVISION: Final = "2025-11-25"
MAX_WAIT_SECONDS: Final = 65.0


class WireAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A JSON-RPC answer with HTTP status and headers. `payload` is a result or an error's data."""

    status: int
    headers: dict[str, str]
    message: dict[str, Any] | None
    text: str

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
            payload = _object(part.get("text") if isinstance(part, dict) else None)
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


def _object(text: object) -> dict[str, Any] | None:
    if not isinstance(text, str):
        return None
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    return found if isinstance(found, dict) else None


class Unreachable(Exception):  # noqa: N818 - a state of the world
    """No server answers at the URL; the message lists the attempts."""


class Server:
    """The server under test, as one caller."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        base = url.rstrip("/").removesuffix(ENDPOINT)
        self.url = base
        self.key = key
        self._transport = transport
        self._sleep = sleep
        self._http = httpx.AsyncClient(base_url=base, timeout=60, transport=transport)
        self._ids = itertools.count(1)

    def as_caller(self, key: str | None) -> Server:
        return Server(self.url, key, transport=self._transport, sleep=self._sleep)

    async def close(self) -> None:
        await self._http.aclose()

    async def get(self, path: str) -> httpx.Response:
        """Send a GET without key and cookie. Follows no redirect."""
        return await self._request("GET", path)

    async def post(self, body: bytes, key: str | None = None) -> WireAnswer:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": REVISION,
        }
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        response = await self._request("POST", ENDPOINT, content=body, headers=headers)
        return WireAnswer(
            status=response.status_code,
            headers={name.lower(): value for name, value in response.headers.items()},
            message=_message(response),
            text=response.text,
        )

    async def rpc(self, method: str, params: dict[str, Any] | None = None) -> WireAnswer:
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        if params is not None:
            message["params"] = params
        answer = await self.post(msgspec.json.encode(message), self.key)
        if answer.reason == "rate_limited":
            await self._sleep(_wait(answer))
            answer = await self.post(msgspec.json.encode(message), self.key)
        return answer

    async def call(self, tool: str, **arguments: Any) -> WireAnswer:
        return await self.rpc("tools/call", {"name": tool, "arguments": arguments})

    async def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        self._http.cookies.clear()
        try:
            return await self._http.request(method, path, **options)
        except httpx.TransportError as error:
            raise Unreachable(f"{method} {self.url}{path.partition('?')[0]}: {error or type(error).__name__}")


def _message(response: httpx.Response) -> dict[str, Any] | None:
    """Return the JSON-RPC message from a plain body or from the only event of a stream."""
    text = response.text
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        data = [line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:")]
        text = data[-1] if data else ""
    return _object(text)


def _wait(answer: WireAnswer) -> float:
    said = answer.payload.get("retryAfterSeconds") or answer.headers.get("retry-after") or 1
    try:
        return min(float(said), MAX_WAIT_SECONDS)
    except (TypeError, ValueError):
        return 1.0
