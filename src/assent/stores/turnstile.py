"""The inter-process writer lock of one SQLite file, fair by two `flock` files beside the database.

SQLite does not queue writers: a waiting writer polls, and a busy process takes the lock again before the waiting one
wakes. Here a process that waits for the writer lock holds the turnstile lock during the wait. A process that has just
written must pass the turnstile first, so it queues behind the waiting one.
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path


class Turnstile:
    """A lock of two files, exclusive between processes and between stores. Not thread-safe."""

    def __init__(self, database: Path) -> None:
        self._paths = [database.with_name(database.name + suffix) for suffix in (".turnstile", ".writer")]
        self._files: list[int] = []
        self._waiting: _Wait | None = None

    def acquire(self, timeout_seconds: float) -> bool:
        """Acquire the lock. Returns False after the timeout. Raises OSError if the files cannot be created."""
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
