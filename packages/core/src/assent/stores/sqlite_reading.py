"""Reads of the SQLite store: on reader threads, and short ones on the event loop itself.

Theory of operation

Why. Most reads of a call are one or two look-ups by a key, 20 to 60 µs of SQLite. Handing one to a
thread costs more than the read: waking the thread, two changes of the interpreter's lock, waking the
event loop. A call that stages, approves and executes has a dozen of them. Measured on two cores with
eight callers, reads through threads took about 2 ms of processor time per loop more than reads here
(docs/decisions/0006).

How. `ShortReads` has one read-only connection for the event loops of the process. `run` tries a read
there and says whether it ran. A reader thread runs it if another event loop uses the connection, or
if a read of the same function was long within the last minute. SQLite calls back every thousand
steps, about 50 µs: a read that has taken `BRIEF_SECONDS` is interrupted, and a reader thread repeats
it. In WAL mode a reader waits for no writer.

What may take longer. The limit cannot interrupt a read that waits for the disk, nor our own code
between two statements. Once reads have held the event loop for `BRIEF_SECONDS`, it turns before the
next one (`begin_turn`), so that a function that reads in a loop does not hold up others.

A replaced file. Before each read the device and inode of the file are compared with those of the
open connection, because a connection to a file that was replaced returns old data.

Invariants

1. A read sees one snapshot, which has every write that was acknowledged before it began.
2. A read runs to its end exactly once; what an interrupted one returned is dropped.
3. At most one thread uses a connection at a time.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assent.stores.sqlite_connection import connect_reader, translate
from assent.stores.sqlite_transactions import BRIEF_SECONDS, find_function, read, settle

if TYPE_CHECKING:
    from assent.stores.sqlite import QueuedTransaction

STEPS: Final = 1_000
"""Steps of SQLite between two looks at the clock."""

LONG_SECONDS: Final = 60.0
"""How long the reads of a function go to the threads after one of them was long."""


class Reader:
    """A read-only connection to the file, opened again if the file was replaced. One thread at a time."""

    def __init__(self, path: Path, is_long: Callable[[], bool] | None = None) -> None:
        """`is_long` interrupts a read."""
        self._path = path
        self._is_long = is_long
        self._place: tuple[int, int] | None = None
        self.connection: sqlite3.Connection | None = None

    def run(self, request: QueuedTransaction) -> None:
        """Run a read on one snapshot and set its result or error."""
        try:
            request.result, request.error = read(self._connect(), request.begin)
        except Exception as error:
            self._drop()
            request.error = translate(error)

    def _connect(self) -> sqlite3.Connection:
        found = os.stat(self._path)  # noqa: PTH116 - at every read
        place = (found.st_dev, found.st_ino)
        if self.connection is None or place != self._place:
            self._drop()
            self.connection, self._place = connect_reader(self._path), place
            if self._is_long is not None:
                self.connection.set_progress_handler(self._is_long, STEPS)
        return self.connection

    def _drop(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class ShortReads:
    """Runs short reads on the caller's thread."""

    def __init__(self, path: Path) -> None:
        self._reader = Reader(path, self._is_long)
        self._in_use = threading.Lock()
        self._until: float | None = None
        """Until when the read may take processor time; set when SQLite first calls back."""
        self._turn_began: float | None = None
        """When the first read of this turn of the event loop began."""
        self._long: dict[object, float] = {}
        """Functions whose reads were long, and until when they go to the threads."""

    def begin_turn(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether reads have held the event loop for so long that the caller has to let it turn."""
        now = time.monotonic()
        if self._turn_began is None:
            self._turn_began = now
            loop.call_soon(self._end_turn)
        return now - self._turn_began > BRIEF_SECONDS

    def _end_turn(self) -> None:
        self._turn_began = None

    def run(self, request: QueuedTransaction) -> bool:
        """Run a read. Returns False if a thread has to run it."""
        began, function = time.monotonic(), find_function(request.begin)
        if self._long.get(function, 0.0) > began or not self._in_use.acquire(blocking=False):
            return False
        try:
            self._until = None
            self._reader.run(request)
        finally:
            self._in_use.release()
        if not isinstance(request.error, sqlite3.Error):
            settle([request])
            return True
        self._long[function], request.error = began + LONG_SECONDS, None
        return False

    def _is_long(self) -> bool:
        now = time.thread_time()
        if self._until is None:
            # Most reads end before. Reading this clock is a system call, at which a busy machine changes threads.
            self._until = now + BRIEF_SECONDS
        return now > self._until

    def retire(self) -> sqlite3.Connection | None:
        """Return the connection, for the writer to close."""
        with self._in_use:
            connection, self._reader.connection = self._reader.connection, None
        return connection
