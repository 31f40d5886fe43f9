"""The embedded store: one SQLite file, one writer thread with group commit, a few reader threads.

The writer (`sqlite_transactions`, which describes the theory) commits queued transactions in
batches. Readers have read-only connections. What need not wait runs on the event loop: short reads
(`sqlite_reading`), and the writes of a caller that is alone. Changing to a thread and back costs
100 µs, a short read 10 (docs/decisions/0006).
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from assent.ports import Begin, Clock, StoreUnavailable, Transaction
from assent.stores.first_use import FirstUse

if TYPE_CHECKING:
    import sqlite3

    from assent.sql.components import ListComponents
    from assent.stores.sqlite_reading import ShortReads
    from assent.stores.sqlite_transactions import SqliteWriter

T = TypeVar("T")

READERS: Final = 4
"""Reader threads. Reads are short, and the interpreter runs one thread at a time."""


class QueuedTransaction(msgspec.Struct, eq=False):
    """A transaction, its caller's future, and its result or error."""

    begin: Begin[Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None


class SqliteStore:
    """A `Store` over one file, for several event loops and threads."""

    dialect = "sqlite"

    def __init__(
        self,
        path: Path | str,
        *,
        readers: int = READERS,
        clock: Clock | None = None,
        is_alone: Callable[[], bool] = lambda: False,
        prepare: Callable[[], Awaitable[None]] | None = None,
        list_components: ListComponents = tuple,
    ) -> None:
        self.path = Path(path).absolute()
        self.written = asyncio.Event()
        self.writes = 0
        self._clock = clock
        self._list_components = list_components
        self._first_use = FirstUse(prepare)
        self._writes: queue.SimpleQueue[QueuedTransaction | None] = queue.SimpleQueue()
        self._reads: queue.SimpleQueue[QueuedTransaction | None] = queue.SimpleQueue()
        self._lifecycle = threading.Lock()
        self._writer_thread: threading.Thread | None = None
        self._writer: SqliteWriter | None = None
        self._is_alone = is_alone
        self._wrote_here: set[asyncio.Task[Any] | None] = set()
        """The task that wrote on the event loop, until the loop's next iteration."""
        self._short_reads: ShortReads | None = None
        self._readers: list[threading.Thread] = []
        self._max_readers = readers
        self._unread = 0
        self._opened = False
        self._closed = False
        self._retired: list[sqlite3.Connection] = []

    async def open(self) -> None:
        if not self._first_use.done:
            await self._first_use.wait()
        if not self._opened:
            await self.write(_nothing)

    async def write(self, begin: Begin[T]) -> T:
        from assent.stores.sqlite_connection import Replaced

        while True:
            if not self._first_use.done:
                await self._first_use.wait()
            try:
                result: T = await self._write(begin)
            except Replaced:
                continue  # prepared again first
            self._opened = True
            self.writes += 1
            self.written.set()
            return result

    async def _write(self, begin: Begin[T]) -> T:
        if self._wrote_here and asyncio.current_task() in self._wrote_here:
            await asyncio.sleep(0)  # it can share no commit with its last write, so others run first
        loop = asyncio.get_running_loop()
        request = QueuedTransaction(begin, loop, loop.create_future())
        if not (self._is_alone() and self._write_here(request)):
            with self._lifecycle:
                self._refuse_when_closed()
                if self._writer_thread is None:
                    self._writer_thread = _start(self._write_until_closed, "assent-writer")
                self._writes.put(request)
        result: T = await request.future
        return result

    def _write_here(self, request: QueuedTransaction) -> bool:
        """Run the first write of an event-loop iteration on this thread if no other waits. Returns
        whether it ran. Writes of the same iteration share a commit in the queue."""
        if self._wrote_here or self._writer is None or self._closed or not self._writes.empty():
            return False
        self._wrote_here.add(asyncio.current_task())
        request.loop.call_soon(self._wrote_here.clear)
        return self._writer.run_here(request)

    async def read(self, begin: Begin[T]) -> T:
        if not self._opened or not self._first_use.done:
            await self.open()
        loop = asyncio.get_running_loop()
        request = QueuedTransaction(begin, loop, loop.create_future())
        if not await self._read_here(request):
            with self._lifecycle:
                self._refuse_when_closed()
                if len(self._readers) < min(self._unread + 1, self._max_readers):
                    self._readers.append(_start(self._read_until_closed, "assent-reader"))
                self._unread += 1
                self._reads.put(request)
        result: T = await request.future
        return result

    async def _read_here(self, request: QueuedTransaction) -> bool:
        """Run a short read on this thread. Returns False if a reader has to run it."""
        if self._closed:
            return False
        if self._is_alone():
            return self._writer is not None and self._writer.run_here(request, reads=True)
        if self._short_reads is None:
            from assent.stores.sqlite_reading import ShortReads

            self._short_reads = ShortReads(self.path)
        if self._short_reads.begin_turn(request.loop):
            await asyncio.sleep(0)
        return self._short_reads.run(request)

    async def close(self) -> None:
        self._first_use.cancel()
        with self._lifecycle:
            already, self._closed = self._closed, True
        if not already:
            await asyncio.to_thread(self._finish)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("the store is closed")

    def _finish(self) -> None:
        """Let the threads finish their queues. The writer is last, because it closes every
        connection under the turnstile."""
        for _ in self._readers:
            self._reads.put(None)
        for thread in self._readers:
            thread.join()
        if self._short_reads is not None and (connection := self._short_reads.retire()) is not None:
            self._retired.append(connection)
        if self._writer_thread is not None:
            self._writes.put(None)
            self._writer_thread.join()

    # On the writer thread

    def _write_until_closed(self) -> None:
        from assent.stores.sqlite_connection import connect_writer
        from assent.stores.sqlite_transactions import SqliteWriter

        connect = partial(connect_writer, self.path, self._clock, self._list_components)
        self._writer = SqliteWriter(self.path, connect, self._retired, self._first_use.repeat)
        self._writer.work_off(self._writes)

    # On a reader thread

    def _read_until_closed(self) -> None:
        from assent.stores.sqlite_reading import Reader
        from assent.stores.sqlite_transactions import deliver

        reader = Reader(self.path)
        while (request := self._reads.get()) is not None:
            reader.run(request)
            with self._lifecycle:
                self._unread -= 1
            deliver([request])
            del request  # an idle thread must not keep callers' objects alive
        if reader.connection is not None:
            self._retired.append(reader.connection)


def _nothing() -> Transaction[None]:
    yield from ()


def _start(target: Callable[[], None], name: str) -> threading.Thread:
    # A daemon, so that a store that was not closed does not keep the process alive. A kill at any
    # point is safe.
    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    return thread
