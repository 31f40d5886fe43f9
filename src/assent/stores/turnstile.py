"""The queue in which the writers of several processes wait for one SQLite file.

SQLite itself does not queue: a busy writer polls, and a busy process takes the lock again before a waiting
one wakes. Here writers wait on `flock` files beside the database, and whoever waits for the writer lock holds
the turnstile meanwhile, so that the process which has just written has to line up behind it.

Decides who writes next. Deliberately unaware of SQL and of what is written.
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path


class Turnstile:
    """One lock made of two files, exclusive between processes and between stores. One thread at a time uses
    it."""

    def __init__(self, database: Path) -> None:
        self._paths = [database.with_name(database.name + suffix) for suffix in (".turnstile", ".writer")]
        self._files: list[int] = []
        self._waiting: _Wait | None = None

    def acquire(self, timeout_seconds: float) -> bool:
        """True once the lock is held, False when the wait was given up. Raises OSError where files cannot be
        made."""
        if self._waiting is None:
            turnstile, writer = self._open()
            entered = _try(turnstile)
            if entered and _try(writer):
                fcntl.flock(turnstile, fcntl.LOCK_UN)
                return True
            self._waiting = _Wait(turnstile, writer, entered)
        if not self._waiting.arrived.wait(timeout_seconds):
            return False  # a lock that arrives later is kept for the next call
        failure, self._waiting = self._waiting.failure, None
        if failure is not None:
            self.close()
            raise failure
        return True

    def take_if_free(self) -> bool:
        """As `acquire`, without waiting: nobody lines up who is not let through."""
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
        """Let go of the files, and with them of the lock."""
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
    """A thread that waits: a blocking flock cannot be given up, so the writer does not wait there itself."""

    def __init__(self, turnstile: int, writer: int, entered: bool) -> None:
        self.arrived = threading.Event()
        self.failure: OSError | None = None
        self._abandoned: list[int] | None = None
        self._lock = threading.Lock()
        threading.Thread(
            target=self._run, args=(turnstile, writer, entered), name="assent-turnstile", daemon=True
        ).start()

    def abandon(self, files: list[int]) -> None:
        """Nobody wants the lock any more: the files are closed as soon as no call is blocked on them."""
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
