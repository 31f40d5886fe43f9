"""The HTTP/1.1 that an emulator and its connector need: one request per connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from assent.kernel.structs import Record

MAX_BODY_BYTES: Final = 4 * 1_048_576


class Malformed(Exception):  # noqa: N818 - what it is
    """The input is no HTTP message."""


class Message(Record):
    """A request or a response: its first line's words, headers in lower case, and body."""

    start: tuple[str, ...]
    headers: dict[str, str]
    body: bytes


async def read_message(reader: asyncio.StreamReader) -> Message:
    """Read a message. Raises `Malformed`, or `IncompleteReadError` if the peer closes early."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)
        }
        size = int(headers.get("content-length", "0"))
    except (ValueError, asyncio.LimitOverrunError) as error:
        raise Malformed("no HTTP message") from error
    if not 0 <= size <= MAX_BODY_BYTES:
        raise Malformed("no length to believe")
    return Message(tuple(first.split(" ", 2)), headers, await reader.readexactly(size))


def request(method: str, target: str, host: str, body: bytes, headers: dict[str, str]) -> bytes:
    return _message(f"{method} {target} HTTP/1.1", body, {"Host": host, **headers})


def response(status: int, body: bytes, headers: dict[str, str]) -> bytes:
    return _message(f"HTTP/1.1 {status} Emulated", body, headers)


def _message(first: str, body: bytes, headers: dict[str, str]) -> bytes:
    every = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **headers,
    }
    lines = [first, *(f"{name}: {value}" for name, value in every.items())]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class LocalServer:
    """Serves a local port, one exchange per connection."""

    def __init__(self) -> None:
        self.url = ""
        self._open: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def serving(self, port: int = 0) -> AsyncIterator[str]:
        """Serve for the block; yields the address."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self.url
        finally:
            server.close()
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._converse(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError
