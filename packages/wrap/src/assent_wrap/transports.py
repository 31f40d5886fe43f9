"""Connections to wrapped servers: JSON-RPC over the pipes of a process, or over HTTP (`http_transport`).

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
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any, Final, Protocol, TypeVar

import msgspec

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

    def begin(self, version: str, *, modern: bool) -> None:
        """Take the version that was negotiated."""
        ...

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


Pipe = TypeVar("Pipe", asyncio.StreamReader, asyncio.StreamWriter)


class StdioLink:
    """A server as a process of its own, in its own process group."""

    def __init__(self, process: asyncio.subprocess.Process, name: str, asked: Asked, told: Told) -> None:
        self.closed: str | None = None
        self._process = process
        self._stdin = _require(process.stdin)
        self._stdout = _require(process.stdout)
        self._stderr = _require(process.stderr)
        self._name = name
        self._asked = asked
        self._told = told
        self._numbers = count(1)
        self._open: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._said = b""
        """The end of what it wrote to stderr."""
        self._tasks = (asyncio.create_task(self._read()), asyncio.create_task(self._drain_stderr()))
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

    def begin(self, version: str, *, modern: bool) -> None:
        """A pipe repeats no version."""

    async def _send(self, message: Mapping[str, Any], seconds: float) -> None:
        """Write a message. Raises `Unsent` if no byte of it can have been read."""
        if self.closed is not None or self._stdin.is_closing():
            await self._hear_end()
            raise Unsent(self.closed or f"{self._name} has stopped")
        try:
            self._stdin.write(msgspec.json.encode(message) + b"\n")
            # Not `wait_for`: in Python 3.11 it swallows a cancellation that arrives as the last byte is taken.
            async with asyncio.timeout(seconds):
                await self._stdin.drain()
        except TimeoutError:
            raise Unanswered(self._end(f"{self._name} does not read what it is sent")) from None
        except OSError:
            await self._hear_end()
            raise Unanswered(self._end(f"{self._name} has stopped")) from None

    async def _read(self) -> str:
        """Read until the connection ends. Returns why."""
        buffer, unreadable, unasked = bytearray(), 0, 0
        while chunk := await self._stdout.read(CHUNK_BYTES):
            buffer += chunk
            if b"\n" not in chunk:
                if len(buffer) > MAX_MESSAGE_BYTES:
                    return self._end(f"{self._name} sent a message over {MAX_MESSAGE_BYTES:,} bytes")
                continue
            *lines, rest = bytes(buffer).split(b"\n")
            buffer = bytearray(rest)
            for line in lines:
                message = read_message(line)
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
        while chunk := await self._stderr.read(CHUNK_BYTES):
            self._said = (self._said + chunk)[-KEPT_STDERR:]

    async def _hear_end(self) -> None:
        """Wait until the process has ended, whose exit code and last words say why."""
        if self.closed is None:
            await asyncio.wait(self._tasks, timeout=STOP_SECONDS)

    def _quote_stderr(self) -> str:
        lines = [line.strip() for line in self._said.decode(errors="replace").splitlines() if line.strip()]
        return f": {lines[-1][:200]}" if lines else ""

    def _end(self, why: str) -> str:
        """Close the connection and fail what is open. The process group is killed. Returns the first reason."""
        if self.closed is None:
            self.closed = why
            log.warning("a wrapped server was disconnected: %s", why)
        for answer in self._open.values():
            if not answer.done():
                answer.set_exception(Unanswered(why))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return self.closed

    async def close(self) -> None:
        """End the process: its input ends, then it has a moment, then it is killed."""
        self.closed = self.closed or f"{self._name} was closed"
        self._stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
        self._end(self.closed)
        # The pipes belong to the event loop, which may end next.
        await self._process.wait()
        for task in (*self._tasks, *self._answers):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._answers, return_exceptions=True)


def _require(stream: Pipe | None) -> Pipe:
    if stream is None:
        raise LookupError("the process was started without its pipes")
    return stream


def read_message(data: bytes) -> dict[str, Any] | None:
    """Return a message; None for what is no JSON object."""
    try:
        message = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return message if isinstance(message, dict) else None
