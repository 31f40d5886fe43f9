"""Messages to a command that serves MCP over stdio: one line each, one process for one caller.

The command is not trusted. Waiting for an answer has a deadline, a line and what is written between
two answers have a size, and its whole process group ends with the wire. A process that dies, hangs
or floods is a loss: the wire raises `Unreachable` and starts another process for the next message.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

import httpx
import msgspec

from assent_conform.checks.wire import (
    CLIENT,
    LEGACY,
    Unreachable,
    WireAnswer,
    add_envelope,
    decode_object,
    encode_request,
)

ANSWER_SECONDS: Final = 60.0
MAX_LINE_BYTES: Final = 8 << 20
MAX_LINES: Final = 1_000
"""Lines that are read while one answer is awaited."""
KEPT_STRAYS: Final = 5
KEPT_ERROR_BYTES: Final = 2_000
END_SECONDS: Final = 5.0
"""For a process to end after its input did, and again after it was told to."""
LATE_SECONDS: Final = 1.0
"""For an answer that has no id, once a later request was answered."""
METHOD_NOT_FOUND: Final = -32601


class StdioWire:
    """One caller's process. It is started with the environment that holds the caller's key."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], *, seconds: float = ANSWER_SECONDS
    ) -> None:
        self.name = shlex.join(command)
        self.modern = False
        self._command = tuple(command)
        self._environment = dict(environment)
        self._seconds = seconds
        self._process: _ServerProcess | None = None
        self._strays: list[str] = []
        self._fences = 0
        self._turn = asyncio.Lock()

    async def open(self) -> None:
        async with self._losing():
            await self._find_process()

    async def exchange(self, body: bytes, headers: Mapping[str, str]) -> WireAnswer:
        """Calls at the same time take turns: one request is open at a time."""
        async with self._turn, self._losing():
            return await self._exchange(await self._find_process(), body)

    async def begin(self, body: bytes, headers: Mapping[str, str]) -> WireAnswer:
        process = await self._start()
        try:
            return await self._exchange(process, body)
        finally:
            await process.end()

    async def get(self, path: str) -> httpx.Response:
        raise Unreachable(f"GET {path}: a command serves no HTTP")

    def stray_lines(self) -> Sequence[str]:
        return self._strays

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.end()

    @contextlib.asynccontextmanager
    async def _losing(self) -> AsyncIterator[None]:
        """End a process that did not answer, so that the next message gets a new one."""
        try:
            yield
        except BaseException:
            process, self._process = self._process, None
            if process is not None:
                await process.end(at_once=True)
            raise

    async def _find_process(self) -> _ServerProcess:
        """Return the process that is there, or a new one after the handshake."""
        if self._process is None:
            self._process = await self._start()
            await self._shake_hands(self._process)
        return self._process

    async def _start(self) -> _ServerProcess:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                env=self._environment,
                limit=MAX_LINE_BYTES,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise Unreachable(f"{self._command[0]} cannot be started: {reason}") from error
        return _ServerProcess(process)

    async def _shake_hands(self, process: _ServerProcess) -> None:
        """Agree on a revision. A server without handshake gets messages that stand alone."""
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT}
        answer = await self._exchange(process, encode_request("initialize", params, "initialize"))
        self.modern = not answer.result
        if self.modern:
            body = encode_request("server/discover", add_envelope(None), "discover")
            if not (await self._exchange(process, body)).result:
                raise Unreachable(f"it refuses initialize and server/discover ({answer.text[:200]})")
        else:
            await process.write(
                msgspec.json.encode({"jsonrpc": "2.0", "method": "notifications/initialized"})
            )

    async def _exchange(self, process: _ServerProcess, body: bytes) -> WireAnswer:
        message = decode_object(body)
        request_id = None if message is None else message.get("id")
        what = "bytes that are no message" if message is None else str(message.get("method"))
        try:
            async with asyncio.timeout(self._seconds):
                await process.write(body)
                if request_id is not None:
                    return await self._read_answer(process, request_id)
                return await self._read_unasked(process, awaited=message is None)
        except TimeoutError as error:
            noted = await process.describe()
            raise Unreachable(f"no answer to {what} within {self._seconds:g} s{noted}") from error

    async def _read_answer(self, process: _ServerProcess, request_id: object) -> WireAnswer:
        """Read up to the answer to this request. What is no message is kept as a stray line."""
        for _ in range(MAX_LINES):
            line = await process.read_line()
            message = decode_object(line)
            if message is None or message.get("jsonrpc") != "2.0":
                self._keep_stray(line)
            elif "method" in message:
                await _refuse_request(process, message)
            elif _answers(message, request_id):
                return _as_answer(line, message)
        raise Unreachable(f"{MAX_LINES} lines without the answer{await process.describe()}")

    async def _read_unasked(self, process: _ServerProcess, *, awaited: bool) -> WireAnswer:
        """Read the answer to a message without id, if there is one. A request behind it marks the
        time after which none comes; `awaited` allows it to be late."""
        self._fences += 1
        fence = f"fence-{self._fences}"
        await process.write(encode_request("ping", add_envelope(None) if self.modern else None, fence))
        found: tuple[bytes, dict[str, Any]] | None = None
        passed = False
        for _ in range(MAX_LINES):
            try:
                async with asyncio.timeout(LATE_SECONDS if passed else None):
                    line = await process.read_line()
            except TimeoutError:
                break
            message = decode_object(line)
            if message is None or message.get("jsonrpc") != "2.0":
                self._keep_stray(line)
            elif message.get("id") == fence:
                passed = True
            elif "method" in message:
                await _refuse_request(process, message)
            else:
                found = line, message
            if passed and (found is not None or not awaited):
                break
        return _as_answer(*found) if found is not None else WireAnswer(message=None, text="", status=202)

    def _keep_stray(self, line: bytes) -> None:
        if line.strip() and len(self._strays) < KEPT_STRAYS:
            self._strays.append(line.decode(errors="replace").strip()[:200])


def _answers(message: dict[str, Any], request_id: object) -> bool:
    """Whether this is the answer to the only open request, also with an id of another kind."""
    found = message.get("id")
    return str(found) == str(request_id) or (found is None and "error" in message)


def _as_answer(line: bytes, message: dict[str, Any]) -> WireAnswer:
    return WireAnswer(message=message, text=line.decode(errors="replace").strip())


async def _refuse_request(process: _ServerProcess, message: dict[str, Any]) -> None:
    """Answer a request of the server: this client has no capabilities. Notifications get nothing."""
    if message.get("id") is None:
        return
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "ping":
        answer["result"] = {}
    else:
        answer["error"] = {"code": METHOD_NOT_FOUND, "message": "This client declared no capability"}
    await process.write(msgspec.json.encode(answer))


class _ServerProcess:
    """A started command with its process group. Its error output is read all the time."""

    def __init__(self, process: Process) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise TypeError("a process without pipes")
        self._process = process
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._errors = b""
        self._reading = asyncio.create_task(self._read_errors())

    async def write(self, body: bytes) -> None:
        try:
            self._stdin.write(body.replace(b"\n", b" ") + b"\n")
            await self._stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise Unreachable(f"it reads no more input{await self.describe()}") from None

    async def read_line(self) -> bytes:
        try:
            line = await self._stdout.readline()
        except ValueError:
            raise Unreachable(f"a line of more than {MAX_LINE_BYTES >> 20} MiB") from None
        if not line:
            raise Unreachable(f"it closed its output{await self.describe()}")
        return line

    async def describe(self) -> str:
        """Return how it ended and the last words of its error output, for a message."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LATE_SECONDS):
                await self._process.wait()
                await asyncio.shield(self._reading)
        code = self._process.returncode
        ended = "" if code is None else f", and ended with exit status {code}"
        words = self._errors.decode(errors="replace").strip()
        return f"{ended}; its last error output: {' '.join(words.split())[-300:]}" if words else ended

    async def end(self, *, at_once: bool = False) -> None:
        """End the process and all of its group: by the end of its input, a signal, then by force."""
        self._stdin.close()
        for seconds, number in (
            (0 if at_once else END_SECONDS, signal.SIGTERM),
            (END_SECONDS, signal.SIGKILL),
        ):
            if seconds and self._process.returncode is None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await self._process.wait()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await self._process.wait()
        # The pipes belong to the event loop, which may end next.
        with contextlib.suppress(TimeoutError, ValueError):
            async with asyncio.timeout(LATE_SECONDS):
                await self._stdout.read()
                await asyncio.shield(self._reading)
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def _read_errors(self) -> None:
        while chunk := await self._stderr.read(1 << 16):
            self._errors = (self._errors + chunk)[-KEPT_ERROR_BYTES:]
