"""Connections to wrapped servers: JSON-RPC over the pipes of a process, or over HTTP.

A wrapped server is not trusted. Everything that it sends is bounded: the length of a message, the
number of messages that answer nothing, the time until an answer. A server that exceeds a bound is
disconnected, by name and with the reason; only its own calls fail.

A request that was sent and not answered may have had its effect. `Unanswered` says so; `Unsent` means
that it certainly did not reach the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from itertools import count
from typing import Any, Final, Protocol

import httpx
import msgspec
from mcp.shared.inbound import encode_header_value

from assent_wrap.profiles import UpstreamSpec

log = logging.getLogger("assent.wrap")

MAX_MESSAGE_BYTES: Final = 8_000_000
MAX_UNREADABLE: Final = 50
"""Lines that are no JSON-RPC, before the server is disconnected. A few print a greeting."""
MAX_UNASKED: Final = 5_000
"""Messages in a row that answer nothing."""
CHUNK_BYTES: Final = 1 << 16
STOP_SECONDS: Final = 2.0
KEPT_STDERR: Final = 2_000


class Unsent(Exception):  # noqa: N818 - what is known
    """The request did not reach the server."""


class Unanswered(Exception):  # noqa: N818 - what is known
    """The request was sent, and no answer can be had."""


class RpcError(Exception):
    """The server answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


Asked = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Answers a request of the server: its method and params. Raises `RpcError` to refuse it."""
Told = Callable[[str, dict[str, Any]], None]
"""Takes a notification of the server."""


class ServerLink(Protocol):
    """An open connection to one server."""

    closed: str | None
    """Why it is closed; None while it is open."""

    async def request(self, method: str, params: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the result. Raises `RpcError`, `Unsent` or `Unanswered`."""
        ...

    async def notify(self, method: str, params: Mapping[str, Any]) -> None: ...

    async def close(self) -> None: ...


def read_answer(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a response. Raises `RpcError`."""
    error = message.get("error")
    if isinstance(error, dict):
        code, said = error.get("code"), error.get("message")
        raise RpcError(code if isinstance(code, int) else -32000, str(said)[:2_000], error.get("data"))
    result = message.get("result")
    if not isinstance(result, dict):
        raise RpcError(-32000, "The server answered without a result.")
    return result


class StdioLink:
    """A server as a process of its own, in its own process group."""

    def __init__(self, process: asyncio.subprocess.Process, name: str, asked: Asked, told: Told) -> None:
        self.closed: str | None = None
        self._process = process
        self._name = name
        self._asked = asked
        self._told = told
        self._numbers = count(1)
        self._open: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._said = b""
        """The end of what it wrote to stderr."""
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._drain_stderr())]
        self._answers: set[asyncio.Task[None]] = set()

    @classmethod
    async def start(
        cls, spec: UpstreamSpec, environment: Mapping[str, str], asked: Asked, told: Told
    ) -> StdioLink:
        """Start the process. Raises `Unsent` if it cannot be started."""
        try:
            process = await asyncio.create_subprocess_exec(
                *spec.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=spec.cwd or None,
                env=environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise Unsent(f"{spec.command[0]} cannot be started: {why}") from error
        return cls(process, spec.name, asked, told)

    async def request(self, method: str, params: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        number = next(self._numbers)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        try:
            await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params}, seconds)
            try:
                async with asyncio.timeout(seconds):
                    return read_answer(await answer)
            except TimeoutError:
                raise Unanswered(f"{self._name} did not answer within {seconds:g} seconds") from None
        except asyncio.CancelledError:
            with contextlib.suppress(Unsent, Unanswered):
                await self.notify("notifications/cancelled", {"requestId": number, "reason": "cancelled"})
            raise
        finally:
            self._open.pop(number, None)
            if answer.done() and not answer.cancelled():
                answer.exception()  # of a connection that ended while the request was written

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        await self._send({"jsonrpc": "2.0", "method": method, "params": params}, STOP_SECONDS)

    async def _send(self, message: Mapping[str, Any], seconds: float) -> None:
        """Write a message. Raises `Unsent` if no byte of it can have been read."""
        stdin = self._process.stdin
        if self.closed is not None or stdin is None or stdin.is_closing():
            await self._hear_end()
            raise Unsent(self.closed or f"{self._name} has stopped")
        try:
            stdin.write(msgspec.json.encode(message) + b"\n")
            # Not `wait_for`: in Python 3.11 it swallows a cancellation that arrives as the last byte is taken.
            async with asyncio.timeout(seconds):
                await stdin.drain()
        except TimeoutError:
            self._end(f"{self._name} does not read what it is sent")
            raise Unanswered(self.closed or "") from None
        except OSError:
            await self._hear_end()
            self._end(f"{self._name} has stopped")
            raise Unanswered(self.closed or "") from None

    async def _read(self) -> None:
        stdout = _require(self._process.stdout)
        buffer, unreadable, unasked = bytearray(), 0, 0
        while chunk := await stdout.read(CHUNK_BYTES):
            buffer += chunk
            if b"\n" not in chunk:
                if len(buffer) > MAX_MESSAGE_BYTES:
                    return self._end(f"{self._name} sent a message over {MAX_MESSAGE_BYTES:,} bytes")
                continue
            *lines, rest = bytes(buffer).split(b"\n")
            buffer = bytearray(rest)
            for line in lines:
                message = _decode(line)
                if message is None or message.get("jsonrpc") != "2.0":
                    unreadable += bool(line.strip())
                elif self._take(message):
                    unasked = 0
                else:
                    unasked += 1
            if unreadable > MAX_UNREADABLE:
                return self._end(f"{self._name} writes something else than JSON-RPC")
            if unasked > MAX_UNASKED:
                return self._end(f"{self._name} sends messages without end")
        code = await self._process.wait()
        await asyncio.wait(self._tasks[1:], timeout=STOP_SECONDS)  # its last words
        return self._end(f"{self._name} has stopped (exit code {code}){self._quote_stderr()}")

    def _take(self, message: dict[str, Any]) -> bool:
        """Take a message. Returns whether it answers a request."""
        method, number = message.get("method"), message.get("id")
        if not isinstance(method, str):
            answer = self._open.get(number) if isinstance(number, int) else None
            if answer is None or answer.done():
                return False
            answer.set_result(message)
            return True
        params = message.get("params")
        given = params if isinstance(params, dict) else {}
        if number is None:
            self._told(method, given)
        elif len(self._answers) < MAX_UNREADABLE:
            task = asyncio.create_task(self._answer(number, method, given))
            self._answers.add(task)
            task.add_done_callback(self._answers.discard)
        return False

    async def _answer(self, number: Any, method: str, params: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        try:
            reply["result"] = await self._asked(method, params)
        except RpcError as error:
            reply["error"] = {"code": error.code, "message": error.message}
        with contextlib.suppress(Unsent, Unanswered):
            await self._send(reply, STOP_SECONDS)

    async def _drain_stderr(self) -> None:
        stderr = _require(self._process.stderr)
        while chunk := await stderr.read(CHUNK_BYTES):
            self._said = (self._said + chunk)[-KEPT_STDERR:]

    async def _hear_end(self) -> None:
        """Wait until the process has ended, whose exit code and last words say why."""
        if self.closed is None:
            await asyncio.wait(self._tasks, timeout=STOP_SECONDS)

    def _quote_stderr(self) -> str:
        lines = [line.strip() for line in self._said.decode(errors="replace").splitlines() if line.strip()]
        return f": {lines[-1][:200]}" if lines else ""

    def _end(self, why: str) -> None:
        """Close the connection and fail what is open. The process group is killed."""
        if self.closed is None:
            self.closed = why
            log.warning("a wrapped server was disconnected: %s", why)
        for answer in self._open.values():
            if not answer.done():
                answer.set_exception(Unanswered(why))
        self._kill()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """End the process: its input ends, then it has a moment, then it is killed."""
        self.closed = self.closed or f"{self._name} was closed"
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
        self._end(self.closed)
        # The pipes belong to the event loop, which may end next.
        await self._process.wait()
        for task in (*self._tasks, *self._answers):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._answers, return_exceptions=True)


def _require(stream: asyncio.StreamReader | None) -> asyncio.StreamReader:
    if stream is None:
        raise LookupError("the process was started without its pipes")
    return stream


def _decode(data: bytes) -> dict[str, Any] | None:
    try:
        message = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return message if isinstance(message, dict) else None


# Over HTTP each request is a POST, answered by JSON or by an event stream.

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
        self.version = ""
        """The negotiated version, sent with each request."""
        self.modern = False
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
                found = _decode(await self._read_body(response))
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
        if self.version:
            headers[VERSION] = self.version
        if self.modern:
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
            message = _decode(data)
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
