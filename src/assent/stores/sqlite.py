"""The embedded store: one SQLite file, one writer thread with group commit, a few reader threads.

The writer takes what is queued, waits its turn among processes (`turnstile`), runs every transaction of the
batch inside one BEGIN IMMEDIATE … COMMIT, under a savepoint of its own unless it is alone, and answers after
the COMMIT: one sync to disk for many callers, and a transaction that fails takes back only itself. Readers have
connections that cannot write.

Deliberately unaware of what any statement means.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from assent.ports import Begin, Clock, StoreUnavailable, Transaction
from assent.stores.handover import Answer, Request, batches, deliver, request_for
from assent.stores.turnstile import Turnstile

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

READERS: Final = 4
"""Threads that read: reads are short and the interpreter runs one at a time, so more would only wait."""

MAX_BATCH: Final = 128
"""Transactions in one commit: enough that the sync is shared, few enough that another process gets its
turn."""

TURN_SECONDS: Final = 10.0
"""How long a batch waits for its turn among processes. Only a stopped process holds it that long."""

LOG_BYTES: Final = 32 * 1024 * 1024
"""How far the write-ahead log may grow before the writer empties it: readers get slower with its length. Twice what
SQLite itself lets it grow to while no reader is in the way."""


class SqliteStore:
    """A `Store` over one file. May be used from several event loops and threads."""

    dialect = "sqlite"

    def __init__(self, path: Path | str, *, readers: int = READERS, clock: Clock | None = None) -> None:
        self.path = Path(path).absolute()
        self._clock = clock
        self._turnstile = Turnstile(self.path)
        self._writes: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._reads: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._lifecycle = threading.Lock()
        self._writer: threading.Thread | None = None
        self._readers: list[threading.Thread] = []
        self._max_readers = readers
        self._unread = 0
        self._log = f"{self.path}-wal"
        self._log_limit = LOG_BYTES
        self._opened = False
        self._closed = False
        self._connection: sqlite3.Connection | None = None
        self._retired: list[sqlite3.Connection] = []

    async def open(self) -> None:
        await self.write(_nothing)

    async def write(self, begin: Begin[T]) -> T:
        request = request_for(begin)
        with self._lifecycle:
            self._refuse_when_closed()
            if self._writer is None:
                self._writer = _start(self._write_until_closed, "assent-writer")
            self._writes.put(request)
        result: T = await request.future
        return result

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
        """Let the threads work off their queues. The writer goes last: it closes every connection in its
        turn."""
        for _ in self._readers:
            self._reads.put(None)
        for thread in self._readers:
            thread.join()
        if self._writer is not None:
            self._writes.put(None)
            self._writer.join()

    # On the writer thread

    def _write_until_closed(self) -> None:
        for batch in batches(self._writes, MAX_BATCH):
            deliver(self._serve(batch))
        self._close_connections()

    def _serve(self, batch: list[Request]) -> list[Answer]:
        """One turn: the batch as one commit, or nothing of it."""
        from assent.stores.sqlite_connection import OUT_OF_SPACE, Broken, translate

        try:
            self._take_turn()
            try:
                return self._commit(batch)
            except BaseException:
                self._drop_connection()
                raise
            finally:
                self._turnstile.release()
        except Exception as error:
            failure = translate(error)
            if len(batch) > 1 and isinstance(failure, Broken) and failure.code in OUT_OF_SPACE:
                # One transaction that is too large for the disk must not take its neighbours down.
                return [answer for request in batch for answer in self._serve([request])]
            return [Answer(request, None, failure) for request in batch]

    def _take_turn(self) -> None:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._turnstile.acquire(TURN_SECONDS):
            raise StoreUnavailable(f"sqlite: another process has held {self.path} for {TURN_SECONDS:.0f} s")

    def _commit(self, batch: list[Request]) -> list[Answer]:
        from assent.stores.sqlite_connection import attempt, commit_alone, connect_writer

        if self._connection is None:
            self._connection = connect_writer(self.path, self._clock)
            self._opened = True
        connection = self._connection
        wanted = [request for request in batch if not request.future.cancelled()]
        connection.execute("BEGIN IMMEDIATE")
        if len(wanted) == 1:
            answers = [Answer(wanted[0], *commit_alone(connection, wanted[0].begin))]
        else:
            answers = [Answer(request, *attempt(connection, request.begin)) for request in wanted]
            connection.execute("COMMIT")
        self._keep_log_short(connection)
        return answers

    def _keep_log_short(self, connection: sqlite3.Connection) -> None:
        from assent.stores.sqlite_connection import empty_log

        try:
            size = os.stat(self._log).st_size  # noqa: PTH116 - at every commit
            if size >= self._log_limit:
                # While a long read needs the log, asking again at every commit would only cost time.
                self._log_limit = LOG_BYTES if empty_log(connection) else size + LOG_BYTES
        except Exception:
            # The batch is committed whatever happens here; if something is broken the next one will meet it.
            self._drop_connection()

    def _drop_connection(self) -> None:
        """After a failure of the whole batch, still in turn: closing rolls back, and the next batch opens anew."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):  # it is given up either way, and the thread has to go on
                connection.close()

    def _close_connections(self) -> None:
        # The last connection to close moves the log into the file, which is writing: in turn, like any other.
        with suppress(Exception):
            if self._connection is not None:
                self._turnstile.acquire(TURN_SECONDS)
            for connection in self._retired:
                connection.close()
        self._drop_connection()
        self._turnstile.close()

    # On a reader thread

    def _read_until_closed(self) -> None:
        from assent.stores.sqlite_connection import connect_reader, look, translate

        connection: sqlite3.Connection | None = None
        while (request := self._reads.get()) is not None:
            try:
                connection = connection or connect_reader(self.path)
                answer = Answer(request, *look(connection, request.begin))
            except Exception as error:
                if connection is not None:
                    connection.close()
                    connection = None
                answer = Answer(request, None, translate(error))
            with self._lifecycle:
                self._unread -= 1
            deliver([answer])
            del request, answer  # an idle thread keeps nobody's objects alive
        if connection is not None:
            self._retired.append(connection)


def _nothing() -> Transaction[None]:
    yield from ()


def _start(target: Callable[[], None], name: str) -> threading.Thread:
    # A daemon, so that a store nobody closed does not keep the process alive; a kill at any point is safe
    # anyway.
    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    return thread
