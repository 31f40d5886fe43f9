"""Which of several processes on one data directory serves the pages and runs the jobs.

The first process to lock `leader.lock` leads; the lock ends with its process, so another takes over by itself. A
`stdio` process that leads gives way to `assent serve`, which holds `serve.lock` while it runs or wants to start. The
leader announces where its pages are, so that every process on the directory can hand out links that work; so does
`serve` as soon as it listens, also where another leads. What is announced counts while the lock beside it is held.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import Final

import msgspec

LEADER: Final = "leader.lock"
SERVE: Final = "serve.lock"
ANNOUNCEMENT: Final = "leader.json"
SERVING: Final = "serve.json"


class Announcement(msgspec.Struct, frozen=True, rename="camel"):
    """Who leads and where its pages are; no address means that they could not be served."""

    pid: int
    role: str
    address: str | None


class FileLock:
    """An exclusive lock on a file, held by this process until it is released or the process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    def try_acquire(self) -> bool:
        if self._descriptor is not None:
            return True
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def is_held_anywhere(self) -> bool:
        """Whether any process holds it, without keeping it."""
        if self._descriptor is not None:
            return True
        if not self._path.exists():
            return False
        if self.try_acquire():
            self.release()
            return False
        return True


class Leadership:
    """This process's view of who leads on a data directory."""

    def __init__(self, data_dir: Path, role: str, of: str = "") -> None:
        """`of` tells the databases apart that are used from one directory."""
        self._leader = FileLock(data_dir / f"{of}{LEADER}")
        self._serve = FileLock(data_dir / f"{of}{SERVE}")
        self._announcement = data_dir / f"{of}{ANNOUNCEMENT}"
        self._serving = data_dir / f"{of}{SERVING}"
        self._role = role

    @property
    def leads(self) -> bool:
        return self._leader.held

    def try_lead(self) -> bool:
        return self._taken(self._leader, self._announcement)

    def claim_serve(self) -> bool:
        """Tell a leading `stdio` process to give way; false when another `serve` runs here."""
        return self._taken(self._serve, self._serving)

    def serve_wanted(self) -> bool:
        return self._serve.is_held_anywhere()

    def announce(self, address: str | None) -> None:
        """Publish where the pages of the leader are."""
        self._publish(self._announcement, address)

    def announce_serving(self, address: str) -> None:
        """The same for `serve`, where it holds its lock, before it leads."""
        if self._serve.held:
            self._publish(self._serving, address)

    def announced(self) -> Announcement | None:
        """What `serve` said, if it runs; else what the leading process said, if one leads."""
        for lock, path in ((self._serve, self._serving), (self._leader, self._announcement)):
            if lock.is_held_anywhere():
                with contextlib.suppress(OSError, msgspec.MsgspecError):
                    return msgspec.json.decode(path.read_bytes(), type=Announcement)
        return None

    def step_down(self) -> None:
        if self._leader.held:
            self._announcement.unlink(missing_ok=True)
        self._leader.release()

    def release(self) -> None:
        self.step_down()
        if self._serve.held:
            self._serving.unlink(missing_ok=True)
        self._serve.release()

    def _taken(self, lock: FileLock, said: Path) -> bool:
        """Take a lock; what a process left there that was killed counts no more."""
        had = lock.held
        if not lock.try_acquire():
            return False
        if not had:
            said.unlink(missing_ok=True)
        return True

    def _publish(self, path: Path, address: str | None) -> None:
        """Whole or not at all."""
        made = path.with_suffix(f".{os.getpid()}")
        made.touch(mode=0o600)
        made.write_bytes(msgspec.json.encode(Announcement(os.getpid(), self._role, address)))
        made.replace(path)
