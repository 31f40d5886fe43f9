"""What the writer thread of the embedded store does with what is queued.

It takes a batch, waits its turn among processes (`turnstile`), runs every transaction of the batch inside one
BEGIN IMMEDIATE … COMMIT, under a savepoint of its own unless it is alone, and answers after the COMMIT: one sync to
disk for many callers, and a transaction that fails takes back only itself. The log is looked after once everybody has
their answers.

A caller who is alone may have its transaction run where it is (`here`): what a change of thread costs there and back
is as much as the transaction.

Deliberately unaware of what any statement means, and of readers but for the connections they left behind.
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
"""Transactions in one commit: enough that the sync is shared, few enough that another process gets its
turn."""

TURN_SECONDS: Final = 10.0
"""How long a batch waits for its turn among processes. Only a stopped process holds it that long."""

LOG_BYTES: Final = 32 * 1024 * 1024
"""How far the write-ahead log may grow before the writer empties it: readers get slower with its length. Twice what
SQLite itself lets it grow to while no reader is in the way."""

BRIEF_SECONDS: Final = 0.005
"""What a commit may take to be run on a caller's thread the next time: a slow disk holds up only the writer's."""


class SqliteWriter:
    """One connection that writes, and its place in the queue of writers. Lives on one thread; others may use it while
    that thread has nothing to do."""

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
        """Serve until the queue says that it ends."""
        for batch in batches(waiting, MAX_BATCH):
            with self._in_use:
                deliver(self._serve(batch))
                self._keep_log_short()
        with self._in_use:
            self._close_connections()

    def here(self, request: PendingTransaction) -> FinishedTransaction | None:
        """Run one transaction on the caller's thread; None where it would have to wait or may take long, which is what
        the queue is for."""
        if not self._in_use.acquire(blocking=False):
            return None
        try:
            if not self._may_write_here():
                return None
            return self._in_turn([request])[0]
        finally:
            self._in_use.release()

    def _may_write_here(self) -> bool:
        """Takes the turn where nothing speaks against it. The writer's own thread looks after a long log."""
        if self._connection is None or not self._brief:
            return False
        try:
            return self._log_bytes() < self._log_limit and self._turnstile.take_if_free()
        except OSError:
            return False  # the queue meets it again and says so

    def _serve(self, batch: list[PendingTransaction]) -> list[FinishedTransaction]:
        try:
            self._take_turn()
        except Exception as error:
            return _fail(batch, translate(error))
        return self._in_turn(batch)

    def _in_turn(self, batch: list[PendingTransaction]) -> list[FinishedTransaction]:
        """The batch as one commit, or nothing of it; gives the turn back."""
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
            # One transaction that is too large for the disk must not take its neighbours down.
            return [answer for request in batch for answer in self._serve([request])]
        return _fail(batch, failure)

    def _take_turn(self) -> None:
        if self._connection is not None and not self._in_place():
            # The lock files went with the others.
            self._drop_connection()
            self._turnstile.close()
        if self._connection is None:
            if self._was_there and not self._path.exists():
                raise StoreUnavailable(f"sqlite: {self._path} is gone; put it back, or restart to begin anew")
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
        """Between batches, when nobody waits for an answer. What is broken here the next batch will meet."""
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
        """Whether the connection writes to the files that are there: what somebody has moved away or removed must get
        no more commits, because nobody would find them."""
        try:
            self._log_bytes()
        except OSError:
            return False
        return True

    def _log_bytes(self) -> int:
        """How long the log is. Raises where it is not the one that the connection writes to."""
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
            # While a long read needs the log, asking again at every commit would only cost time.
            self._log_limit = LOG_BYTES if empty_log(connection) else size + LOG_BYTES
        finally:
            self._turnstile.release()

    def _drop_connection(self) -> None:
        """After a failure of the whole batch: closing rolls back, and the next batch opens anew."""
        connection, self._connection = self._connection, None
        self._log_place = None
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


def _fail(batch: list[PendingTransaction], failure: BaseException) -> list[FinishedTransaction]:
    return [FinishedTransaction(request, None, failure) for request in batch]
