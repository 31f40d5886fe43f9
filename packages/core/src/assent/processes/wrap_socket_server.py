"""The socket on which `assent serve` meets the processes of `assent wrap`.

A wrap process is only a front: it copies lines between its client and this server, which owns the
wrapped servers and makes the approved calls. So a call outlives its client. The socket is in the data
directory, which only its owner can enter; a front therefore has the rights of `assent stdio`.

The first line of a connection describes what is wrapped; it is answered with one line. All that follows
is MCP, as over stdio.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import msgspec

from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.kernel.limits import MAX_BODY_BYTES
from assent.ports import StoreUnavailable
from assent.processes.listening import HELLO_BYTES, find_socket
from assent.serving.edge import Answer, Credentials, Edge
from assent.serving.jsonrpc_errors import TOO_LONG, Unreadable, find_request_id
from assent.settings.load import Settings

if TYPE_CHECKING:
    from assent.serving.gateway import ToolGateway
    from assent.serving.mcp import McpServer

log = logging.getLogger("assent.process")

HELLO_SECONDS: Final = 10.0
GREETING_SECONDS: Final = 1.0
"""How long the start of a server waits for a front that has come and says nothing."""
FIRST_LIST_SECONDS: Final = 1.0
"""How long it waits for their first lists."""
FIRST_ANSWERS: Final = 2
"""The answers of a start: to the handshake, and the list."""
BREATH_SECONDS: Final = 0.001
"""A round of the event loop or several: what is ready runs."""
MAX_FRONTS: Final = 200
MAX_UNREAD_BYTES: Final = 32_000_000
"""How much a front may leave unread before it is disconnected."""
_KEPT_BYTES: Final = 1_024


class FrontHello(msgspec.Struct, rename="camel"):
    """The first line of a front."""

    profile: msgspec.Raw
    api_key: str | None = None


class Fronts:
    """Serves the fronts of one process. Use it as a context."""

    def __init__(
        self,
        settings: Settings,
        edge: Edge,
        find_gateway: Callable[[], ToolGateway],
        find_messages: Callable[[], McpServer],
        *,
        expected: bool,
    ) -> None:
        """`expected`: a front has started this process, and comes."""
        self._settings = settings
        self._edge = edge
        self._find_gateway = find_gateway
        self._find_messages = find_messages
        self._loaded = asyncio.Event()
        """Set once there are messages. Fronts are let in before that, so that their servers start meanwhile."""
        self._coming: set[asyncio.Event] = set()
        """Of each front that has not said yet what is wrapped."""
        self._starting: set[asyncio.Event] = set()
        """Of each front that has not had its first list of tools."""
        self._expected = asyncio.Event()
        if expected:
            self._coming.add(self._expected)
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Fronts:
        path = find_socket(self._settings.data_dir)
        with contextlib.suppress(FileNotFoundError):
            path.unlink()  # of a server that was killed: this process holds its lock
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(self._take, path, limit=MAX_BODY_BYTES)
        finally:
            os.umask(before)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        with contextlib.suppress(FileNotFoundError):
            find_socket(self._settings.data_dir).unlink()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._open) >= MAX_FRONTS:
            writer.close()
            return
        self._open.add(task)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            log.info("a wrap process went away")
        except asyncio.CancelledError:
            pass  # the server stops
        except Exception:
            log.exception("a wrap process cannot be served")
        finally:
            self._open.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with _marking(self._starting) as listed:
            with _marking(self._coming):
                credentials = await self._greet(reader, writer)
                self._expected.set()
            if credentials is not None:
                await self._answer(reader, writer, credentials, listed)

    async def _answer(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        credentials: Credentials,
        listed: asyncio.Event,
    ) -> None:
        numbers = count(1)

        def write(data: bytes) -> None:
            writer.write(data)
            if next(numbers) == FIRST_ANSWERS:
                listed.set()
            if writer.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
                log.warning("a wrap process does not read its answers and is disconnected")
                writer.transport.abort()

        await self._loaded.wait()
        from assent.serving.stdio import StdioSession  # late: it has the SDK

        await StdioSession(self._find_messages(), credentials, write).run(_read_lines(reader))
        await writer.drain()

    async def let_in(self) -> None:
        """Let in the fronts that have come, before this process loads for long: then their servers start beside it."""
        await asyncio.sleep(BREATH_SECONDS)
        await _wait(self._coming, GREETING_SECONDS)
        self._expected.set()  # or it does not come
        await asyncio.sleep(BREATH_SECONDS)

    async def answer(self) -> None:
        """Begin to answer the fronts. Returns when those that are here have their tools, or take long: what else this
        process loads would keep them waiting."""
        self._loaded.set()
        await _wait(self._starting, FIRST_LIST_SECONDS)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Credentials | None:
        """Read what a front wraps and start it. Returns None, having answered why, if that cannot be."""
        size = int.from_bytes(await asyncio.wait_for(reader.readexactly(4), HELLO_SECONDS))
        if size > HELLO_BYTES:
            writer.write(_line({"error": "What is wrapped is described too long."}))
            return None
        described = await asyncio.wait_for(reader.readexactly(size), HELLO_SECONDS)
        try:
            credentials = await self._open_profile(msgspec.json.decode(described, type=FrontHello))
        except (ValueError, StoreUnavailable) as error:
            writer.write(_line({"error": str(error)}))
            return None
        writer.write(_line({"ok": True, "pages": self._settings.base_url}))
        return credentials

    async def _open_profile(self, hello: FrontHello) -> Credentials:
        """Return the credentials of a front. Raises `ValueError` with a message for its user."""
        given = Credentials(hello.api_key) if hello.api_key else Credentials(local=LOCAL_PRINCIPAL)
        caller = await self._edge.check_key(given, required=True)
        if caller is None or isinstance(caller, Answer):
            raise ValueError("The key in ASSENT_API_KEY does not work.")
        profile_id = await self._find_gateway().open_profile(caller, bytes(hello.profile))
        return Credentials(given.api_key, given.local, profile_id)


@contextlib.contextmanager
def _marking(events: set[asyncio.Event]) -> Iterator[asyncio.Event]:
    """Give an event of the set, which leaves it set."""
    event = asyncio.Event()
    events.add(event)
    try:
        yield event
    finally:
        events.discard(event)
        event.set()


async def _wait(events: Iterable[asyncio.Event], seconds: float) -> None:
    """Wait until these events are set, or for so long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            for each in tuple(events):
                await each.wait()


async def _read_lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes | Unreadable]:
    while True:
        try:
            yield await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as end:
            if end.partial:
                yield end.partial
            return
        except asyncio.LimitOverrunError:
            yield await _skip_line(reader)
        except ConnectionError:
            return


async def _skip_line(reader: asyncio.StreamReader) -> Unreadable:
    """Skip a line that is too long to keep. Its id is kept, because the client awaits a response."""
    first = last = b""
    ended = False
    while not ended:
        try:
            part, ended = await reader.readuntil(b"\n"), True
        except asyncio.LimitOverrunError as over:
            part = await reader.readexactly(over.consumed)
        except asyncio.IncompleteReadError as end:
            part, ended = end.partial, True
        first, last = first or part[:_KEPT_BYTES], (last + part)[-_KEPT_BYTES:]
    return Unreadable(TOO_LONG, find_request_id(first, last))


def _line(answer: dict[str, Any]) -> bytes:
    return msgspec.json.encode(answer) + b"\n"
