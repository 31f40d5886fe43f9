"""The writer of the SQLite store: one thread, group commit, an inter-process lock, WAL checkpoints.

Theory of operation

Threads. A store has one `SqliteWriter`, which owns the store's only writing connection. Callers on
event loops put `PendingTransaction`s into a queue. The writer thread runs `work_off`: it takes up to
`MAX_BATCH` queued transactions, commits them together and delivers the results to the event loops
(`handover`). Readers have their own connections and never wait for the writer, because the file is in
WAL mode.

Group commit. `_commit` opens BEGIN IMMEDIATE, runs the transactions of the batch one after the other,
and ends with one COMMIT. With `synchronous = FULL` (`sqlite_connection`) the COMMIT syncs the WAL to
disk, so one sync serves the whole batch. Each transaction of a larger batch runs under its own
savepoint: an exception from it rolls back to that savepoint, goes to its caller, and leaves its
neighbours untouched. A single transaction needs no savepoint. No result is delivered before the COMMIT
has returned, so every caller that sees a result sees one that is on disk. A transaction whose caller
was cancelled before the batch began is left out.

Inter-process lock. Several processes may share the file. SQLite lets only one of them write, but a busy
writer polls and may starve. So a batch first takes the `Turnstile`, a fair lock on two files beside the
database, and waits for it at most `TURN_SECONDS`. `_in_turn` always releases it. SQLite's own lock
stays as the backstop against programs that do not take the turnstile.

Writing on the caller's thread. A thread switch there and back costs as much as a small transaction. A
store with one client therefore calls `here`, which runs a single transaction on the caller's thread. It
returns None, and the caller uses the queue, unless all of these hold: the writer is idle (`_in_use` is
free), the connection is open, the last commit took less than `BRIEF_SECONDS`, the WAL is short, and the
turnstile is free at once. `_in_use` guarantees that only one thread uses the connection at a time.

The WAL. Readers get slower as the WAL grows, and SQLite restarts it only while no reader uses it. After
each batch, once the results are delivered, `_keep_log_short` runs a truncating checkpoint if the WAL
has reached `LOG_BYTES`. If a reader still needs the WAL, the next attempt waits until the WAL has grown
by another `LOG_BYTES`.

Failures. An error of one transaction is its caller's. An error of the database or the file system fails
the whole batch: the connection is closed, which rolls back, and the next batch opens a new one. After a
full disk or an I/O error (`OUT_OF_SPACE`) the batch is repeated one transaction at a time, so that one
large transaction does not fail the others. Before each batch the writer compares device and inode of
the WAL with those it first saw. If the files were moved or replaced, it drops the connection. If the
database file is gone, it raises StoreUnavailable and does not create an empty one.

A crash. The process may die at any point. A crash before COMMIT leaves nothing of the batch: SQLite
ignores an incomplete transaction in the WAL. A crash after COMMIT leaves all of it, although callers
may not have their results; they repeat the call with the same idempotency key. A crash during COMMIT
leaves all or nothing. The kernel releases the file locks of a dead process.

Invariants

1. The transactions of a batch that succeed commit together; one that fails leaves no row.
2. No caller gets a result before its transaction is on disk.
3. Transactions and checkpoints run only while the writer holds the turnstile and `_in_use`.
4. The queue is served in order, and every transaction in it gets one result or one exception, unless
   its caller was cancelled.
"""

from __future__ import annotations

import os
import queue
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from assent.ports import Clock, StoreUnavailable
from assent.stores.handover import FinishedTransaction, PendingTransaction, batches, deliver
from assent.stores.sqlite_connection import (
    OUT_OF_SPACE,
    Broken,
    attempt,
    commit_alone,
    connect_writer,
    empty_log,
    translate,
)
from assent.stores.turnstile import Turnstile

MAX_BATCH: Final = 128
"""Most transactions in one commit: enough to share the sync, few enough to let another process take its turn."""

TURN_SECONDS: Final = 10.0
"""How long a batch waits for the turnstile. Only a stopped process holds it that long."""

LOG_BYTES: Final = 32 * 1024 * 1024
"""WAL size at which the writer runs a truncating checkpoint: twice the size at which SQLite checkpoints on its own
while no reader blocks it."""

BRIEF_SECONDS: Final = 0.005
"""A commit that takes longer sends the next write to the writer thread, so that a slow disk does not block an event
loop."""


class SqliteWriter:
    """The writing connection of a process and its inter-process lock."""

    def __init__(self, path: Path, clock: Clock | None, *, retired: list[sqlite3.Connection]) -> None:
        self._path = path
        self._clock = clock
        self._retired = retired
        self._turnstile = Turnstile(path)
        self._log = f"{path}-wal"
        self._log_limit = LOG_BYTES
        self._log_place: tuple[int, int] | None = None
        self._connection: sqlite3.Connection | None = None
        self._was_there = False
        self._in_use = threading.Lock()
        self._brief = False

    def work_off(self, waiting: queue.SimpleQueue[PendingTransaction | None]) -> None:
        """Commit queued transactions until the queue yields None, then close the connections."""
        for batch in batches(waiting, MAX_BATCH):
            with self._in_use:
                deliver(self._serve(batch))
                self._keep_log_short()
        with self._in_use:
            self._close_connections()

    def here(self, request: PendingTransaction) -> FinishedTransaction | None:
        """Run one transaction on the caller's thread. Returns None, having run nothing, where it would wait or may be
        slow."""
        if not self._in_use.acquire(blocking=False):
            return None
        try:
            if not self._may_write_here():
                return None
            return self._in_turn([request])[0]
        finally:
            self._in_use.release()

    def _may_write_here(self) -> bool:
        """Take the turnstile if a write on this thread would be quick. The writer thread shortens a long WAL."""
        if self._connection is None or not self._brief:
            return False
        try:
            return self._log_bytes() < self._log_limit and self._turnstile.take_if_free()
        except OSError:
            return False  # the writer thread meets the same error and reports it

    def _serve(self, batch: list[PendingTransaction]) -> list[FinishedTransaction]:
        try:
            self._take_turn()
        except Exception as error:
            return _fail(batch, translate(error))
        return self._in_turn(batch)

    def _in_turn(self, batch: list[PendingTransaction]) -> list[FinishedTransaction]:
        """Commit the batch, or roll all of it back; then release the turnstile."""
        began = time.monotonic()
        try:
            return self._commit(batch)
        except BaseException as error:
            self._drop_connection()
            if not isinstance(error, Exception):
                raise
            failure = translate(error)
        finally:
            self._turnstile.release()
            self._brief = time.monotonic() - began < BRIEF_SECONDS
        if len(batch) > 1 and isinstance(failure, Broken) and failure.code in OUT_OF_SPACE:
            # One transaction that is too large for the disk must not fail the others.
            return [answer for request in batch for answer in self._serve([request])]
        return _fail(batch, failure)

    def _take_turn(self) -> None:
        if self._connection is not None and not self._in_place():
            # The lock files were moved with the database.
            self._drop_connection()
            self._turnstile.close()
        if self._connection is None:
            if self._was_there and not self._path.exists():
                raise StoreUnavailable(
                    f"sqlite: {self._path} is gone; restore it, or restart to create a new one"
                )
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._turnstile.acquire(TURN_SECONDS):
            raise StoreUnavailable(f"sqlite: another process has held {self._path} for {TURN_SECONDS:.0f} s")

    def _commit(self, batch: list[PendingTransaction]) -> list[FinishedTransaction]:
        if self._connection is None:
            self._connection = connect_writer(self._path, self._clock)
            self._was_there = True
        connection = self._connection
        wanted = [request for request in batch if not request.future.cancelled()]
        connection.execute("BEGIN IMMEDIATE")
        if len(wanted) == 1:
            return [FinishedTransaction(wanted[0], *commit_alone(connection, wanted[0].begin))]
        answers = [FinishedTransaction(request, *attempt(connection, request.begin)) for request in wanted]
        connection.execute("COMMIT")
        return answers

    def _keep_log_short(self) -> None:
        """Shorten the WAL between batches. Errors are ignored: the next batch meets and reports them."""
        if self._connection is None:
            return
        try:
            size = self._log_bytes()
        except OSError:
            return
        if size >= self._log_limit:
            try:
                self._empty_log(self._connection, size)
            except Exception:
                self._drop_connection()

    def _in_place(self) -> bool:
        """Whether the open connection still writes to the file at this path. Commits to a file that was moved or
        removed would be lost."""
        try:
            self._log_bytes()
        except OSError:
            return False
        return True

    def _log_bytes(self) -> int:
        """Return the size of the WAL. Raises FileNotFoundError where it is not the file the connection writes to."""
        found = os.stat(self._log)  # noqa: PTH116 - at every commit
        place = (found.st_dev, found.st_ino)
        if self._log_place is None:
            self._log_place = place
        elif place != self._log_place:
            raise FileNotFoundError(f"{self._log} is another file now")
        return found.st_size

    def _empty_log(self, connection: sqlite3.Connection, size: int) -> None:
        self._take_turn()
        try:
            # While a long read needs the WAL, another attempt at every commit would only cost time.
            self._log_limit = LOG_BYTES if empty_log(connection) else size + LOG_BYTES
        finally:
            self._turnstile.release()

    def _drop_connection(self) -> None:
        """Close the connection, which rolls back. The next batch opens a new one."""
        connection, self._connection = self._connection, None
        self._log_place = None
        if connection is not None:
            with suppress(Exception):  # the connection is dropped either way, and the thread must go on
                connection.close()

    def _close_connections(self) -> None:
        # Closing the last connection checkpoints the WAL into the file, which is a write and needs the turnstile.
        with suppress(Exception):
            if self._connection is not None:
                self._turnstile.acquire(TURN_SECONDS)
            for connection in self._retired:
                connection.close()
        self._drop_connection()
        self._turnstile.close()


def _fail(batch: list[PendingTransaction], failure: BaseException) -> list[FinishedTransaction]:
    return [FinishedTransaction(request, None, failure) for request in batch]
