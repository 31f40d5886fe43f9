"""The embedded store: one SQLite file, one writer thread with group commit, a few reader threads.

The writer (`sqlite_writer`, which describes the theory) commits queued transactions in batches. Readers have read-only
connections. In a process with one client, a write that need not wait runs on the event loop.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from assent.ports import Begin, Clock, StoreUnavailable, Transaction
from assent.stores.handover import FinishedTransaction, PendingTransaction, deliver, request_for

if TYPE_CHECKING:
    import sqlite3

    from assent.stores.sqlite_writer import SqliteWriter

T = TypeVar("T")

READERS: Final = 4
"""Reader threads. Reads are short and the interpreter runs one thread at a time, so more would only wait."""


class SqliteStore:
    """A `Store` over one file, for several event loops and threads."""

    dialect = "sqlite"

    def __init__(
        self,
        path: Path | str,
        *,
        readers: int = READERS,
        clock: Clock | None = None,
        one_client: bool = False,
    ) -> None:
        self.path = Path(path).absolute()
        self._clock = clock
        self._writes: queue.SimpleQueue[PendingTransaction | None] = queue.SimpleQueue()
        self._reads: queue.SimpleQueue[PendingTransaction | None] = queue.SimpleQueue()
        self._lifecycle = threading.Lock()
        self._writer_thread: threading.Thread | None = None
        self._writer: SqliteWriter | None = None
        self._one_client = one_client
        self._written_this_round = False
        self._readers: list[threading.Thread] = []
        self._max_readers = readers
        self._unread = 0
        self._opened = False
        self._closed = False
        self._retired: list[sqlite3.Connection] = []

    async def open(self) -> None:
        await self.write(_nothing)

    async def write(self, begin: Begin[T]) -> T:
        request = request_for(begin)
        answer = self._written_here(request) if self._one_client else None
        if answer is not None:
            if answer.error is not None:
                raise answer.error
            here: T = answer.result
            self._opened = True
            return here
        with self._lifecycle:
            self._refuse_when_closed()
            if self._writer_thread is None:
                self._writer_thread = _start(self._write_until_closed, "assent-writer")
            self._writes.put(request)
        result: T = await request.future
        self._opened = True
        return result

    def _written_here(self, request: PendingTransaction) -> FinishedTransaction | None:
        """Run the first write of an event-loop iteration on this thread if no other waits; else return None. Writes of
        the same iteration share a commit in the queue."""
        if self._written_this_round or self._writer is None or self._closed or not self._writes.empty():
            return None
        self._written_this_round = True
        request.loop.call_soon(self._begin_round)
        return self._writer.here(request)

    def _begin_round(self) -> None:
        self._written_this_round = False

    async def read(self, begin: Begin[T]) -> T:
        if not self._opened:
            await self.open()
        request = request_for(begin)
        with self._lifecycle:
            self._refuse_when_closed()
            if len(self._readers) < min(self._unread + 1, self._max_readers):
                self._readers.append(_start(self._read_until_closed, "assent-reader"))
            self._unread += 1
            self._reads.put(request)
        result: T = await request.future
        return result

    async def close(self) -> None:
        with self._lifecycle:
            already, self._closed = self._closed, True
        if not already:
            await asyncio.to_thread(self._finish)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("the store is closed")

    def _finish(self) -> None:
        """Let the threads finish their queues. The writer is last, because it closes every connection under the
        turnstile."""
        for _ in self._readers:
            self._reads.put(None)
        for thread in self._readers:
            thread.join()
        if self._writer_thread is not None:
            self._writes.put(None)
            self._writer_thread.join()

    # On the writer thread

    def _write_until_closed(self) -> None:
        from assent.stores.sqlite_writer import SqliteWriter

        self._writer = SqliteWriter(self.path, self._clock, retired=self._retired)
        self._writer.work_off(self._writes)

    # On a reader thread

    def _read_until_closed(self) -> None:
        from assent.stores.sqlite_connection import connect_reader, look, translate

        connection: sqlite3.Connection | None = None
        place: tuple[int, int] | None = None
        while (request := self._reads.get()) is not None:
            try:
                found = os.stat(self.path)  # noqa: PTH116 - at every read
                if connection is not None and place != (found.st_dev, found.st_ino):
                    # The file was replaced, so the open connection reads stale data.
                    connection.close()
                    connection = None
                place = (found.st_dev, found.st_ino)
                connection = connection or connect_reader(self.path)
                answer = FinishedTransaction(request, *look(connection, request.begin))
            except Exception as error:
                if connection is not None:
                    connection.close()
                    connection = None
                answer = FinishedTransaction(request, None, translate(error))
            with self._lifecycle:
                self._unread -= 1
            deliver([answer])
            del request, answer  # an idle thread must not keep callers' objects alive
        if connection is not None:
            self._retired.append(connection)


def _nothing() -> Transaction[None]:
    yield from ()


def _start(target: Callable[[], None], name: str) -> threading.Thread:
    # A daemon, so that a store that was not closed does not keep the process alive. A kill at any point is safe.
    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    return thread
