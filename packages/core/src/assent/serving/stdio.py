"""MCP over stdio: one JSON-RPC message per line, nothing else on stdout (W75).

The process's stdout is replaced before anything can print to it: descriptor 1 then points at
stderr, and only the protocol writes to the real stdout. Reading and writing each have a thread, so
that neither a slow nor a silent client blocks the event loop. At end of input the process finishes
the calls in flight and ends.

The server's only requests are the dialogs that a legacy client declared (`elicitation/create`). The
call waits for the response; a client that ends it, or disconnects, ends the dialog.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sys
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from itertools import count
from typing import Any, BinaryIO, Final

import msgspec

from assent.kernel.ids import REQUEST_ID
from assent.kernel.limits import MAX_BODY_BYTES, MAX_OPEN_DIALOGS
from assent.serving import elicitation
from assent.serving.edge import Credentials, RequestContext
from assent.serving.gateway import ClientPort
from assent.serving.jsonrpc_errors import TOO_LONG, Unreadable, find_request_id
from assent.serving.mcp import FIRST_VERSION, McpServer, make_error
from assent.tools.definition import Dialog, DialogAnswer, Peer, Question

INVALID_REQUEST: Final = -32600
MAX_IN_FLIGHT: Final = 64
_KEPT_BYTES: Final = 1_024


class StdioSession:
    """One stdio client: its negotiated version and its calls in flight."""

    def __init__(
        self,
        messages: McpServer,
        credentials: Credentials,
        write: Callable[[bytes], None],
        on_first_answer: Callable[[], None] = lambda: None,
    ) -> None:
        self._messages = messages
        self._credentials = credentials
        self._write = write
        self._on_first_answer: Callable[[], None] | None = on_first_answer
        self._version = FIRST_VERSION
        self._in_flight: dict[Any, tuple[asyncio.Task[None], _Slot]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._over = asyncio.Event()
        self._dialog: Dialog | None = None
        self._client = ClientPort(self._notify)
        self._asked: dict[str, asyncio.Future[Any]] = {}
        self._numbers = count(1)

    async def run(self, lines: AsyncIterator[bytes | Unreadable]) -> None:
        """Serve until the input ends. A line that was too long arrives as `Unreadable`, with its id
        only."""
        async for line in lines:
            if isinstance(line, Unreadable):
                message = f"The line is {line.problem}"
                self._send(make_error(line.request_id, INVALID_REQUEST, message, line.data()).body)
                continue
            if not line.strip():
                continue
            head = _peek(line)
            if head.method is None and isinstance(head.id, str) and head.id in self._asked:
                self._asked.pop(head.id).set_result(head.result)
            elif head.method == "notifications/cancelled":
                self._cancel(head)
            elif head.method == "initialize" or head.id is msgspec.UNSET:
                # The handshake sets the version of later messages, so it is awaited. Its task has
                # its own request id.
                await asyncio.create_task(self._answer(line, head))
            else:
                await self._room.acquire()
                key, place = _key(head.id), _Slot(self._room)
                peer = Peer(self._over.wait, place.leave, lambda place=place: place.cancelled)  # type: ignore[misc]
                task = asyncio.create_task(self._answer(line, head, peer))
                self._in_flight[key] = (task, place)
                self._tasks.add(task)
                task.add_done_callback(partial(self._finish_task, key, place))
        self._over.set()
        if self._tasks:
            # Not by id: a client may have used one twice, and is owed both answers.
            await asyncio.wait(set(self._tasks))

    async def _answer(self, line: bytes, head: _Head, peer: Peer | None = None) -> None:
        context = RequestContext(
            self._credentials, "local", os.urandom(8).hex(), peer, self._dialog, self._client
        )
        REQUEST_ID.set(context.request_id)
        reply = await self._messages.over_stdio(line, self._version, context)
        if reply.body is not None:
            if head.method == "initialize" and "result" in reply.body:
                self._version = reply.body["result"]["protocolVersion"]
                able = head.params.get("capabilities") if isinstance(head.params, dict) else None
                declared = elicitation.declares_forms(able, self._version)
                self._dialog = Dialog(self._ask) if declared else None
                self._client = ClientPort(self._notify, self._forward if declared else None)
            self._send(reply.body)

    async def _ask(self, question: Question, seconds: float) -> DialogAnswer:
        """Have the client show a question, and return its answer."""
        if len(self._asked) >= MAX_OPEN_DIALOGS:
            return DialogAnswer("busy")
        result = await self._request(elicitation.write_params(question), seconds)
        return elicitation.read_result(result.value) if result is not None else DialogAnswer("no_answer")

    async def _forward(self, params: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Have the client show another server's form, and return its result. Without an answer it counts
        as cancelled."""
        result = None
        if len(self._asked) < MAX_OPEN_DIALOGS:
            result = await self._request(params, seconds)
        return result.value if result is not None and isinstance(result.value, dict) else {"action": "cancel"}

    async def _request(self, params: dict[str, Any], seconds: float) -> _Response | None:
        """Send the client a dialog and return its response; None if there is none in time."""
        request_id, answer = f"assent-{next(self._numbers)}", asyncio.get_running_loop().create_future()
        self._asked[request_id] = answer
        ending = asyncio.create_task(self._over.wait())
        self._send({"jsonrpc": "2.0", "id": request_id, "method": elicitation.METHOD, "params": params})
        try:
            await asyncio.wait({answer, ending}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return _Response(answer.result()) if answer.done() else None
        finally:
            ending.cancel()
            if self._asked.pop(request_id, None) is not None:
                ended = {"requestId": request_id, "reason": "The question is closed."}
                self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": ended})

    def _notify(self, method: str, params: dict[str, Any]) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _send(self, body: dict[str, Any] | None) -> None:
        self._write(msgspec.json.encode(body) + b"\n")
        if self._on_first_answer is not None:
            self._on_first_answer()
            self._on_first_answer = None

    def _cancel(self, head: _Head) -> None:
        target = head.params.get("requestId") if isinstance(head.params, dict) else None
        if (found := self._in_flight.get(_key(target))) is not None:
            task, place = found
            place.cancelled = True
            task.cancel()

    def _finish_task(self, key: tuple[type, Any], place: _Slot, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if (found := self._in_flight.get(key)) is not None and found[0] is task:
            del self._in_flight[key]
        place.leave()


class _Slot:
    """One slot for a call in flight. A call that waits for a person releases its slot early."""

    def __init__(self, room: asyncio.Semaphore) -> None:
        self._room: asyncio.Semaphore | None = room
        self.cancelled = False
        """Whether the client ended the call."""

    def leave(self) -> None:
        if self._room is not None:
            self._room.release()
            self._room = None


class _Response(msgspec.Struct):
    """The result of a request to the client."""

    value: Any


class _Head(msgspec.Struct):
    """The fields of a message that decide its order in the queue."""

    method: Any = None
    id: Any = msgspec.UNSET
    params: Any = None
    result: Any = None
    """Of a response. One with an error has none."""


def _peek(line: bytes) -> _Head:
    try:
        return msgspec.json.decode(line, type=_Head)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return _Head()


def _key(request_id: Any) -> tuple[type, Any]:
    """Return the key of a request id: 1 and "1" differ. Invalid ids are never looked up."""
    return type(request_id), request_id if isinstance(request_id, (str, int)) else None


class Pipes:
    """The process's real stdin and stdout, with a thread each."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | type[EOFError] | Unreadable] = asyncio.Queue()
        self._out: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._stdin, self._stdout = _claim_descriptors()
        threading.Thread(target=self._read, name="stdin", daemon=True).start()
        self._writer = threading.Thread(target=self._drain, name="stdout", daemon=True)
        self._writer.start()

    async def lines(self) -> AsyncIterator[bytes | Unreadable]:
        while True:
            line = await self._lines.get()
            if line is EOFError:
                return
            yield line  # type: ignore[misc]

    def write(self, data: bytes) -> None:
        self._out.put(data)

    def close(self) -> None:
        """Flush pending output to the client."""
        self._out.put(None)
        self._writer.join(timeout=5)

    def _read(self) -> None:
        with open(self._stdin, "rb", buffering=1 << 16) as stdin:  # noqa: PTH123 - a descriptor
            while True:
                line = stdin.readline(MAX_BODY_BYTES + 1)
                if not line:
                    break
                whole = line.endswith(b"\n") or len(line) <= MAX_BODY_BYTES
                self._deliver(line if whole else _too_long(line, stdin))
        self._deliver(EOFError)

    def _deliver(self, line: bytes | type[EOFError] | Unreadable) -> None:
        try:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
        except RuntimeError:
            return  # the event loop has ended, and the readers with it

    def _drain(self) -> None:
        while (data := self._out.get()) is not None:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._stdout, view) :]
            except OSError:
                return  # the client is gone; its end of input ends the process


def _too_long(line: bytes, stdin: BinaryIO) -> Unreadable:
    """Skip to the end of a line that is too long to keep. Returns an `Unreadable` with its id,
    because the client awaits a response."""
    last = line[-_KEPT_BYTES:]
    while (rest := stdin.readline(1 << 16)) and not rest.endswith(b"\n"):
        last = (last + rest)[-_KEPT_BYTES:]
    return Unreadable(TOO_LONG, find_request_id(line[:_KEPT_BYTES], (last + rest)[-_KEPT_BYTES:]))


def _claim_descriptors() -> tuple[int, int]:
    """Return private copies of stdin and stdout; a stray print goes to stderr (W75)."""
    sys.stdout.flush()
    stdin, stdout = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return stdin, stdout
