"""The real server behind something that misbehaves: it may change a call, make calls of its own, or alter an answer."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import msgspec


@dataclass(frozen=True)
class Asked:
    """A request on its way in."""

    method: str
    path: str
    body: bytes
    headers: dict[str, str]

    @property
    def line(self) -> str:
        return f"{self.method} {self.path} {self.body.decode(errors='replace')}"

    @property
    def message(self) -> dict[str, Any]:
        try:
            found = msgspec.json.decode(self.body)
        except msgspec.DecodeError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def tool(self) -> str | None:
        name: str | None = (self.message.get("params") or {}).get("name")
        return name

    @property
    def arguments(self) -> dict[str, Any]:
        given: dict[str, Any] = (self.message.get("params") or {}).get("arguments") or {}
        return given

    @property
    def key(self) -> str | None:
        return self.headers.get("authorization", "").removeprefix("Bearer ") or None

    def with_key(self, key: str) -> Asked:
        return replace(self, headers={**self.headers, "authorization": f"Bearer {key}"})

    def calling(self, tool: str | None, **arguments: Any) -> Asked:
        """Another call by the same caller."""
        message = {
            "jsonrpc": "2.0",
            "id": self.message.get("id", 1),
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        return replace(self, method="POST", path="/api/mcp", body=msgspec.json.encode(message))


@dataclass(frozen=True)
class Told:
    """An answer on its way out."""

    status: int
    text: str
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def message(self) -> dict[str, Any]:
        try:
            found = msgspec.json.decode(self.text)
        except msgspec.DecodeError:
            return {}  # a page
        return found if isinstance(found, dict) else {}

    @property
    def payload(self) -> dict[str, Any]:
        if "error" in self.message:
            return self.message["error"].get("data") or {}
        return self.message.get("result", {}).get("structuredContent") or {}

    @property
    def refused(self) -> bool:
        return "error" in self.message or self.message.get("result", {}).get("isError") is True

    def with_message(self, message: dict[str, Any]) -> Told:
        return replace(self, text=msgspec.json.encode(message).decode())

    def edited(self, edit: Callable[[dict[str, Any]], None], *, is_error: bool | None = None) -> Told:
        """The same answer with another payload, in its text as in its structured content."""
        payload, message = self.payload, self.message
        edit(payload)
        if "error" in message:
            return self.with_message({**message, "error": {**message["error"], "data": payload}})
        result = message["result"]
        parts = [*result["content"][:-1], {"type": "text", "text": msgspec.json.encode(payload).decode()}]
        refused = result["isError"] if is_error is None else is_error
        result = {**result, "content": parts, "structuredContent": payload, "isError": refused}
        return self.with_message({**message, "result": result})


Forward = Callable[[Asked], Awaitable[Told]]
Handler = Callable[[Asked, Forward], Awaitable[Told]]
When = Callable[[Asked], bool]


class ProxyTransport(httpx.AsyncBaseTransport):
    """Gives every request to a handler, which has the real server at hand."""

    def __init__(self, real: httpx.AsyncBaseTransport, handler: Handler) -> None:
        self._real = real
        self._handler = handler

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode()
        told = await self._handler(
            Asked(request.method, path, await request.aread(), dict(request.headers)), self._forward
        )
        # The handler was given the text, not what was compressed.
        gone = ("content-length", "content-encoding")
        headers = {name: value for name, value in told.headers.items() if name not in gone}
        return httpx.Response(told.status, headers=headers, content=told.text.encode())

    async def _forward(self, asked: Asked) -> Told:
        headers = {name: value for name, value in asked.headers.items() if name != "content-length"}
        request = httpx.Request(
            asked.method, f"http://127.0.0.1:8080{asked.path}", content=asked.body, headers=headers
        )
        response = await self._real.handle_async_request(request)
        text = (await response.aread()).decode()
        return Told(response.status_code, text, dict(response.headers))


def calls(*tools: str) -> When:
    return lambda asked: asked.tool in tools


def says(text: str) -> When:
    return lambda asked: text in asked.line


def altered(alter: Callable[[Told], Told], when: When) -> Handler:
    """Another answer to some requests."""

    async def handle(asked: Asked, forward: Forward) -> Told:
        told = await forward(asked)
        return alter(told) if when(asked) else told

    return handle


def replaced(old: str, new: str, when: When) -> Handler:
    return altered(lambda told: replace(told, text=re.sub(old, new, told.text)), when)


def edited(edit: Callable[[dict[str, Any]], None], when: When, *, is_error: bool | None = None) -> Handler:
    """Another payload in the answers to some calls that are not refused, or in all to turn into `is_error`."""

    def alter(told: Told) -> Told:
        if told.refused and is_error is None:
            return told
        return told.edited(edit, is_error=is_error)

    return altered(alter, when)


def status(code: int, when: When) -> Handler:
    return altered(lambda told: replace(told, status=code), when)


def changed(change: Callable[[Asked], Asked], when: When) -> Handler:
    """Some requests reach the server as others."""

    async def handle(asked: Asked, forward: Forward) -> Told:
        return await forward(change(asked) if when(asked) else asked)

    return handle


def without(name: str, when: When) -> Handler:
    """An argument that is taken and ignored."""

    def drop(asked: Asked) -> Asked:
        return asked.calling(
            asked.tool, **{each: value for each, value in asked.arguments.items() if each != name}
        )

    return changed(drop, when)
