"""A TCP hop to PostgreSQL that can be cut, made to swallow everything, or made to lose the answer to a commit."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable


class FaultProxy:
    """Connections of clients pass through it to one port of this machine."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._commits_to_cut = 0
        self.cuts = 0
        self.port = 0

    async def mend(self) -> None:
        self._flowing.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Close every connection and refuse new ones."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._writers):
            writer.transport.abort()
        self._flowing.set()

    def swallow(self) -> None:
        """Keep the connections and let nothing through, as a firewall does that forgot them."""
        self._flowing.clear()

    def cut_commits(self, count: int) -> None:
        """Let the next commits reach the database, and cut their connections when it answers."""
        self._commits_to_cut = count

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there_writer}
        committing = asyncio.Event()
        with contextlib.suppress(OSError):
            await asyncio.gather(
                self._pump(reader, there_writer, lambda data: self._note_commit(data, committing)),
                self._pump(there_reader, writer, lambda _: self._cut_answer(committing)),
            )
        for each in (writer, there_writer):
            self._writers.discard(each)
            each.transport.abort()

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, ends: Callable[[bytes], bool]
    ) -> None:
        while data := await source.read(65_536):
            await self._flowing.wait()
            if ends(data):
                break
            sink.write(data)
            await sink.drain()
        sink.transport.abort()

    def _note_commit(self, data: bytes, committing: asyncio.Event) -> bool:
        if self._commits_to_cut and b"COMMIT" in data:
            self._commits_to_cut -= 1
            committing.set()
        return False

    def _cut_answer(self, committing: asyncio.Event) -> bool:
        self.cuts += committing.is_set()
        return committing.is_set()
