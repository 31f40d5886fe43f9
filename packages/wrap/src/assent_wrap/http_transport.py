"""A wrapped server at an address: each request is a POST, answered by JSON or by an event stream.

The bounds are those of `transports`. A module of its own, because a server that is started as a process waits for none
of what this imports.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from itertools import count
from typing import Any, Final

import httpx
import msgspec
from mcp.shared.inbound import encode_header_value

from assent_wrap.profiles import UpstreamSpec
from assent_wrap.transports import (
    MAX_MESSAGE_BYTES,
    MAX_UNASKED,
    Asked,
    RpcError,
    Told,
    Unanswered,
    Unsent,
    read_answer,
    read_message,
)

log = logging.getLogger("assent.wrap")

SESSION: Final = "mcp-session-id"
VERSION: Final = "mcp-protocol-version"
NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that the modern era repeats in a header, by method."""
CONNECT_SECONDS: Final = 10.0
INVALID_REQUEST: Final = -32600
SERVER_ERROR: Final = -32000


class HttpLink:
    """A server at an address. It has a session if the server opened one."""

    def __init__(self, spec: UpstreamSpec, asked: Asked, told: Told) -> None:
        self.closed: str | None = None
        self._version = ""
        self._modern = False
        self._spec = spec
        self._asked = asked
        self._told = told
        self._session = ""
        self._numbers = count(1)
        self._client = httpx.AsyncClient(follow_redirects=False, trust_env=False)

    async def request(self, method: str, params: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        try:
            async with asyncio.timeout(seconds):
                return read_answer(await self._exchange(message, number, seconds))
        except TimeoutError:
            raise Unanswered(f"{self._spec.name} did not answer within {seconds:g} seconds") from None

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        await self._post({"jsonrpc": "2.0", "method": method, "params": params})

    def begin(self, version: str, *, modern: bool) -> None:
        """Send the version with each request from now on."""
        self._version, self._modern = version, modern

    async def close(self) -> None:
        self.closed = self.closed or f"{self._spec.name} was closed"
        await self._client.aclose()

    async def _exchange(self, message: dict[str, Any], number: int, seconds: float) -> dict[str, Any]:
        limits = httpx.Timeout(seconds, connect=CONNECT_SECONDS)
        body = msgspec.json.encode(message)
        try:
            async with self._client.stream(
                "POST", self._spec.url, content=body, headers=self._headers(message), timeout=limits
            ) as response:
                self._session = response.headers.get(SESSION, self._session)
                kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
                if kind == "text/event-stream":
                    return await self._read_events(response, number)
                found = read_message(await self._read_body(response))
                if found is not None and ("result" in found or "error" in found):
                    return found
                if response.status_code == 404 and self._session:
                    self.closed = f"{self._spec.name} has ended the session"
                # A client's error is answered before a tool is called; any other status leaves that open.
                code = INVALID_REQUEST if 400 <= response.status_code < 500 else SERVER_ERROR
                raise RpcError(code, f"{self._spec.name} answered with HTTP status {response.status_code}")
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise Unsent(f"{self._spec.name} cannot be reached") from None
        except httpx.HTTPError as error:
            raise Unanswered(f"{self._spec.name} broke off ({type(error).__name__})") from None

    def _headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        """Return the headers of a message. The modern era repeats method and name in them."""
        headers = {
            **self._spec.headers,
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }
        if self._session:
            headers[SESSION] = self._session
        if self._version:
            headers[VERSION] = self._version
        if self._modern:
            method = message["method"]
            headers["mcp-method"] = method
            name = message["params"].get(NAMED[method]) if method in NAMED else None
            if isinstance(name, str):
                headers["mcp-name"] = encode_header_value(name)
        return headers

    async def _read_body(self, response: httpx.Response) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_MESSAGE_BYTES:
                raise Unanswered(f"{self._spec.name} sent a message over {MAX_MESSAGE_BYTES:,} bytes")
        return bytes(body)

    async def _read_events(self, response: httpx.Response, number: int) -> dict[str, Any]:
        unasked = 0
        async for data in self._events(response):
            message = read_message(data)
            if message is not None and message.get("id") == number and "method" not in message:
                return message
            unasked += 1
            if unasked > MAX_UNASKED:
                raise Unanswered(f"{self._spec.name} sends messages without end")
            if message is not None:
                await self._take(message)
        raise Unanswered(f"{self._spec.name} ended its answer without a result")

    async def _events(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """Yield the data of each event."""
        buffer, data = b"", bytearray()
        async for chunk in response.aiter_bytes():
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in map(bytes.rstrip, lines):
                if line.startswith(b"data:"):
                    data += line[5:].strip()
                elif not line and data:
                    yield bytes(data)
                    data = bytearray()
            if len(buffer) + len(data) > MAX_MESSAGE_BYTES:
                raise Unanswered(f"{self._spec.name} sent a message over {MAX_MESSAGE_BYTES:,} bytes")
        if data:
            yield bytes(data)

    async def _take(self, message: dict[str, Any]) -> None:
        """Take a notification, or answer a request of the server in a POST of its own."""
        method, params = message.get("method"), message.get("params")
        given = params if isinstance(params, dict) else {}
        if not isinstance(method, str):
            return
        if message.get("id") is None:
            self._told(method, given)
            return
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = await self._asked(method, given)
        except RpcError as error:
            reply["error"] = {"code": error.code, "message": error.message}
        await self._post(reply)

    async def _post(self, message: dict[str, Any]) -> None:
        """Send a message that has no answer."""
        headers = self._headers({"method": message.get("method", ""), "params": message.get("params", {})})
        try:
            await self._client.post(
                self._spec.url, content=msgspec.json.encode(message), headers=headers, timeout=CONNECT_SECONDS
            )
        except httpx.HTTPError as error:
            log.warning("a message to %s was not delivered: %s", self._spec.name, type(error).__name__)
