"""Runs the transactions of the SQLite store: one writer, group commit, an inter-process lock, WAL
checkpoints.

Theory of operation

Threads. A store has one `SqliteWriter`, which owns the store's only writing connection. Callers on
event loops put `QueuedTransaction`s into a queue. The writer thread runs `work_off`: it takes up to
`MAX_BATCH` requests, commits them together and delivers the results to the event loops. Readers
have their own connections and never wait for the writer, because the file is in WAL mode.

Group commit. `_commit` opens BEGIN IMMEDIATE, runs the transactions of the batch one after the
other, and ends with one COMMIT. With `synchronous = FULL` (`sqlite_connection`) the COMMIT syncs
the WAL to disk, so one sync serves the whole batch. Each transaction of a larger batch runs under
its own savepoint: an exception from it rolls back to that savepoint, goes to its caller, and leaves
its neighbours untouched. A single transaction needs no savepoint. No result is delivered before the
COMMIT has returned, so every caller that sees a result sees one that is on disk. A transaction
whose caller was cancelled before the batch began is left out.

Inter-process lock. Several processes may share the file. SQLite lets only one of them write and
does not queue the others: a waiting writer polls, and a busy process takes the lock again before
the waiting one wakes. So a batch first takes the `Turnstile`, a fair lock on two files beside the
database, and waits for it at most `TURN_SECONDS`. `_in_turn` always releases it. SQLite's own lock
stays as the backstop against programs that do not take the turnstile.

Writing on the caller's thread. A thread switch there and back costs as much as a small transaction.
A caller that is alone therefore uses `run_here`, which runs a single transaction on the caller's
thread. It returns False, and the caller uses the queue, unless all of these hold: the writer is
idle (`_in_use` is free), the connection is open, the last commit took less than `BRIEF_SECONDS`,
the WAL is short, and the turnstile is free at once. `_in_use` guarantees that only one thread uses
the connection at a time. Short reads run there too: the connection has the pages it just wrote.

The WAL. Readers get slower as the WAL grows, and SQLite restarts it only while no reader uses it.
After each batch, once the results are delivered, `_shorten_log` runs a truncating checkpoint if the
WAL has reached `LOG_BYTES`. If a reader still needs the WAL, the next attempt waits until the WAL
has grown by another `LOG_BYTES`.

Failures. An error of one transaction is its caller's. An error of the database or the file system
fails the whole batch: the connection is closed, which rolls back, and the next batch opens a new
one. After a full disk or an I/O error (`OUT_OF_SPACE`) the batch is repeated one transaction at a
time, so that one large transaction does not fail the others. Before each batch the writer compares
device and inode of the WAL with those it first saw. If the files were moved or replaced, it drops
the connection, and the store is prepared again (`Replaced`). A missing file is StoreUnavailable.

A crash. The process may die at any point. A crash before COMMIT leaves nothing of the batch: SQLite
ignores an incomplete transaction in the WAL. A crash after COMMIT leaves all of it, although
callers may not have their results; they repeat the call with the same idempotency key. A crash
during COMMIT leaves all or nothing. The kernel releases the file locks of a dead process.

Invariants

1. The transactions of a batch that succeed commit together; one that fails leaves no row.
2. No caller gets a result before its transaction is on disk.
3. Transactions and checkpoints run only while the writer holds the turnstile and `_in_use`.
4. The queue is served in order, and every transaction in it gets one result or one exception, unless
   its caller was cancelled.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec.structs import astuple

from assent.ports import Begin, Guarded, Rows, StoreUnavailable, Transaction
from assent.stores.sqlite_connection import OUT_OF_SPACE, Broken, Replaced, empty_log, fetch_again, translate

if TYPE_CHECKING:
    from assent.stores.sqlite import QueuedTransaction

T = TypeVar("T")
Connect = Callable[[], sqlite3.Connection]

MAX_BATCH: Final = 128
"""Transactions per commit: enough to share the sync, few enough for other processes."""

TURN_SECONDS: Final = 10.0
"""How long a batch waits for the turnstile. Only a stopped process holds it that long."""

LOG_BYTES: Final = 32 * 1024 * 1024
"""WAL size at which the writer runs a truncating checkpoint: twice the size at which SQLite
checkpoints on its own while no reader blocks it."""

BRIEF_SECONDS: Final = 0.005
"""A commit that takes longer sends the next write to the writer thread, so that a slow disk does
not block an event loop. A read that takes longer is interrupted there and repeated by a reader."""


def drive(
    connection: sqlite3.Connection, begin: Begin[T], depth: int = 0
) -> tuple[T | None, BaseException | None]:
    """Run the statements of a transaction, or of a guarded part of one at some depth. Returns its result or its
    error; raises `Broken`."""
    try:
        transaction = begin()
        bound = next(transaction)
        while True:
            statement = bound.statement
            rows: Rows = []
            if statement.sqlite:
                try:
                    done = connection.execute(statement.sqlite, astuple(bound))
                    rows = [()] * done.rowcount if statement.counted else done.fetchall()
                except sqlite3.Error as error:
                    if statement.writes or "decode to UTF-8" not in str(error):
                        raise translate(error) from error
                    rows = fetch_again(done, bound)
            elif isinstance(bound, Guarded):
                rows = _drive_guarded(connection, bound.begin, depth + 1)
            bound = transaction.send(rows)
    except StopIteration as end:
        return end.value, None
    except Broken:
        raise
    except BaseException as error:
        return None, error


def _drive_guarded(connection: sqlite3.Connection, begin: Begin[None], depth: int) -> Rows:
    """Run a guarded part of a transaction and return its fault, if it has one. The savepoint needs no release: it
    ends with what is around it."""
    connection.execute(f"SAVEPOINT guarded_{depth}")
    _, failed = drive(connection, begin, depth)
    if failed is None:
        return []
    if not isinstance(failed, Exception) or isinstance(failed, StoreUnavailable):
        raise failed
    connection.execute(f"ROLLBACK TO guarded_{depth}")
    return [(failed,)]


class _SecondStatement(Exception):  # noqa: N818 - a state, not a fault
    """A read that was assumed to have one statement yields another one."""


_ask_again: Final[set[object]] = set()
"""Reads that have yielded a second statement, by their code. Any other is assumed to have one, which is one snapshot
without BEGIN and ROLLBACK. A wrong guess repeats one statement."""


def read(connection: sqlite3.Connection, begin: Begin[T]) -> tuple[T | None, BaseException | None]:
    """Run a read on one snapshot. Returns its result or its error."""
    function = find_function(begin)
    if function not in _ask_again:
        result, error = drive(connection, partial(_ask_once, begin))
        if not isinstance(error, _SecondStatement):
            return result, error
        _ask_again.add(function)
    connection.execute("BEGIN")
    result, error = drive(connection, begin)
    if connection.in_transaction:
        connection.execute("ROLLBACK")
    return result, error


def _ask_once(begin: Begin[T]) -> Transaction[T]:
    """Run a read with its first statement alone."""
    reading = begin()
    try:
        bound = next(reading)
        if not bound.statement.writes:  # nothing takes a write back without a transaction
            reading.send((yield bound))
    except StopIteration as end:
        found: T = end.value
        return found
    reading.close()
    raise _SecondStatement


def find_function(begin: Any) -> object:
    """Return the code that a transaction begins with, the same for every call of it."""
    while isinstance(begin, partial):
        begin = begin.func
    return getattr(begin, "__code__", type(begin))


def deliver(requests: list[QueuedTransaction]) -> None:
    """Set the futures of requests that have run, waking each event loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[QueuedTransaction]] = {}
    for request in requests:
        by_loop.setdefault(request.loop, []).append(request)
    for loop, mine in by_loop.items():
        try:
            loop.call_soon_threadsafe(settle, mine)
        except RuntimeError:
            continue  # the loop was closed, so no caller waits


def settle(requests: list[QueuedTransaction]) -> None:
    for request in requests:
        if request.future.done():
            continue  # cancelled meanwhile
        if request.error is None:
            request.future.set_result(request.result)
        else:
            request.future.set_exception(request.error)


class SqliteWriter:
    """The writing connection of a process and its inter-process lock."""

    def __init__(
        self,
        path: Path,
        connect: Connect,
        retired: list[sqlite3.Connection],
        prepare_again: Callable[[], bool],
    ) -> None:
        self._path, self._connect, self._retired, self._prepare_again = path, connect, retired, prepare_again
        self._turnstile = Turnstile(path)
        self._log, self._log_limit = f"{path}-wal", LOG_BYTES
        self._log_place: tuple[int, int] | None = None
        self._connection: sqlite3.Connection | None = None
        self._was_there = False
        self._in_use = threading.Lock()
        self._brief = False

    def work_off(self, waiting: queue.SimpleQueue[QueuedTransaction | None]) -> None:
        """Commit queued transactions until the queue yields None, then close the connections."""
        for batch in _batches(waiting):
            with self._in_use:
                self._serve(batch)
                size = self._measure_log() if self._connection is not None else None
                deliver(batch)
                if size is not None and size >= self._log_limit:
                    self._shorten_log(size)
            del batch  # as in `_batches`
        with self._in_use:
            self._close_connections()

    def run_here(self, request: QueuedTransaction, *, reads: bool = False) -> bool:
        """Run one transaction on the caller's thread. Returns False, having written nothing, where
        it would wait or may be slow."""
        if not self._in_use.acquire(blocking=False):
            return False
        try:
            ran = self._read(request) if reads else self._may_write_here()
            if ran and not reads:
                self._in_turn([request])
            if ran:
                settle([request])
            return ran
        finally:
            self._in_use.release()

    def _read(self, request: QueuedTransaction) -> bool:
        """Run a read. Returns False if it is not short or SQLite failed; a reader then repeats it."""
        connection, until = self._connection, time.monotonic() + BRIEF_SECONDS
        if connection is None or self._measure_log() is None:
            return False
        written = connection.total_changes
        try:
            connection.set_progress_handler(lambda: time.monotonic() > until, 1_000)  # every 50 µs
            request.result, request.error = read(connection, request.begin)
            connection.set_progress_handler(None, 0)
        except BaseException as error:
            self._drop_connection()
            if not isinstance(error, Exception):
                raise
            return False
        # A pragma against writes would have every statement prepared again.
        return connection.total_changes == written and not isinstance(request.error, sqlite3.Error)

    def _may_write_here(self) -> bool:
        """Take the turnstile if a write on this thread would be quick."""
        if self._connection is None or not self._brief:
            return False
        size = self._measure_log()
        try:
            return size is not None and size < self._log_limit and self._turnstile.take_if_free()
        except OSError:
            return False  # the writer thread meets the same error and reports it

    def _serve(self, batch: list[QueuedTransaction]) -> None:
        try:
            self._take_turn()
        except Exception as error:
            _fail(batch, translate(error))
        else:
            self._in_turn(batch)

    def _in_turn(self, batch: list[QueuedTransaction]) -> None:
        """Commit the batch, or roll all of it back; then release the turnstile."""
        began = time.monotonic()
        try:
            self._commit(batch)
            return
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
            for request in batch:
                self._serve([request])
        else:
            _fail(batch, failure)

    def _take_turn(self) -> None:
        if self._connection is not None and self._measure_log() is None:
            # The lock files were moved with the database.
            self._drop_connection()
            self._turnstile.close()
            if self._prepare_again():
                raise Replaced("sqlite: the file was replaced")
        if self._connection is None:
            if self._was_there and not self._path.exists():
                raise StoreUnavailable(f"sqlite: {self._path} is gone; put it back, or restore a backup")
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._turnstile.acquire(TURN_SECONDS):
            raise StoreUnavailable(f"sqlite: another process has held {self._path} for {TURN_SECONDS:.0f} s")

    def _commit(self, batch: list[QueuedTransaction]) -> None:
        if self._connection is None:
            self._connection = self._connect()
            self._was_there = True
        connection = self._connection
        wanted = [request for request in batch if not request.future.cancelled()]
        connection.execute("BEGIN IMMEDIATE")
        if len(wanted) == 1:
            [request] = wanted
            request.result, request.error = drive(connection, request.begin)
            connection.execute("COMMIT" if request.error is None else "ROLLBACK")
            return
        for request in wanted:
            connection.execute("SAVEPOINT request")
            request.result, request.error = drive(connection, request.begin)
            if request.error is not None:
                connection.execute("ROLLBACK TO request")
            connection.execute("RELEASE request")
        connection.execute("COMMIT")

    def _measure_log(self) -> int | None:
        """Return the size of the WAL, or None if it is not the file that the connection writes to.
        Commits to a file that was moved or removed would be lost."""
        try:
            found = os.stat(self._log)  # noqa: PTH116 - at every commit
        except OSError:
            return None
        place = (found.st_dev, found.st_ino)
        self._log_place = self._log_place or place
        return found.st_size if place == self._log_place else None

    def _shorten_log(self, size: int) -> None:
        """Run a checkpoint between batches. The next batch reports errors."""
        try:
            self._take_turn()
            try:
                if self._connection is not None:
                    # While a long read needs the WAL, another attempt at every commit would only
                    # cost time.
                    self._log_limit = LOG_BYTES if empty_log(self._connection) else size + LOG_BYTES
            finally:
                self._turnstile.release()
        except Exception:
            self._drop_connection()

    def _drop_connection(self) -> None:
        """Close the connection, which rolls back. The next batch opens a new one."""
        connection, self._connection = self._connection, None
        self._log_place = None
        if connection is not None:
            with suppress(Exception):  # the connection is dropped either way, and the thread must go on
                connection.close()

    def _close_connections(self) -> None:
        # Closing the last connection checkpoints the WAL into the file, which is a write and needs
        # the turnstile.
        with suppress(Exception):
            if self._connection is not None:
                self._turnstile.acquire(TURN_SECONDS)
            for connection in self._retired:
                connection.close()
        self._drop_connection()
        self._turnstile.close()


def _batches(waiting: queue.SimpleQueue[QueuedTransaction | None]) -> Iterator[list[QueuedTransaction]]:
    """Yield the queued requests in batches of at most `MAX_BATCH`, until the queue yields None."""
    while (first := waiting.get()) is not None:
        batch = [first]
        while len(batch) < MAX_BATCH and not waiting.empty():
            following = waiting.get()
            if following is None:
                yield batch
                return
            batch.append(following)
        yield batch
        del batch, first  # an idle thread must not keep callers' objects alive


def _fail(batch: list[QueuedTransaction], failure: BaseException) -> None:
    for request in batch:
        request.error = failure


class Turnstile:
    """The inter-process writer lock of one SQLite file, fair by two `flock` files beside it. Not
    thread-safe.

    A process that waits for the writer lock holds the turnstile lock during the wait. A process
    that has just written must pass the turnstile first, so it queues behind the waiting one.
    """

    def __init__(self, database: Path) -> None:
        self._paths = [database.with_name(database.name + suffix) for suffix in (".turnstile", ".writer")]
        self._files: list[int] = []
        self._waiting: _Wait | None = None

    def acquire(self, timeout_seconds: float) -> bool:
        """Acquire the lock. Returns False after the timeout. Raises OSError without the files."""
        if self._waiting is None:
            turnstile, writer = self._open()
            entered = _try(turnstile)
            if entered and _try(writer):
                fcntl.flock(turnstile, fcntl.LOCK_UN)
                return True
            self._waiting = _Wait(turnstile, writer, entered)
        if not self._waiting.arrived.wait(timeout_seconds):
            return False  # a lock acquired later is kept for the next call
        failure, self._waiting = self._waiting.failure, None
        if failure is not None:
            self.close()
            raise failure
        return True

    def take_if_free(self) -> bool:
        """Non-blocking `acquire`."""
        if self._waiting is not None:
            return False
        turnstile, writer = self._open()
        if not _try(turnstile):
            return False
        free = _try(writer)
        fcntl.flock(turnstile, fcntl.LOCK_UN)
        return free

    def release(self) -> None:
        fcntl.flock(self._files[1], fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the files, which releases the lock."""
        files, self._files = self._files, []
        if self._waiting is not None:
            self._waiting.abandon(files)
            self._waiting = None
            return
        for file in files:
            os.close(file)

    def _open(self) -> list[int]:
        while len(self._files) < len(self._paths):
            path = self._paths[len(self._files)]
            self._files.append(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        return self._files


class _Wait:
    """A thread that waits for the lock, because a blocking flock cannot be interrupted."""

    def __init__(self, turnstile: int, writer: int, entered: bool) -> None:
        self.arrived = threading.Event()
        self.failure: OSError | None = None
        self._abandoned: list[int] | None = None
        self._lock = threading.Lock()
        threading.Thread(
            target=self._run, args=(turnstile, writer, entered), name="assent-turnstile", daemon=True
        ).start()

    def abandon(self, files: list[int]) -> None:
        """Close the files as soon as no flock call blocks on them."""
        with self._lock:
            self._abandoned = files
            if self.arrived.is_set():
                self._close()

    def _run(self, turnstile: int, writer: int, entered: bool) -> None:
        try:
            if not entered:
                fcntl.flock(turnstile, fcntl.LOCK_EX)
            fcntl.flock(writer, fcntl.LOCK_EX)
            fcntl.flock(turnstile, fcntl.LOCK_UN)
        except OSError as error:
            self.failure = error
        with self._lock:
            self.arrived.set()
            self._close()

    def _close(self) -> None:
        for file in self._abandoned or ():
            os.close(file)
        self._abandoned = None


def _try(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
