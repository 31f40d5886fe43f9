"""Which of several processes on one data directory serves the pages and runs the jobs.

The first process to lock `leader.lock` leads; the lock ends with its process, so another takes over by itself. A
`stdio` process that leads gives way to `assent serve`, which holds `serve.lock` while it runs or wants to start. The
leader announces where its pages are, so that every process on the directory can hand out links that work.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Final

import msgspec

LEADER: Final = "leader.lock"
SERVE: Final = "serve.lock"
ANNOUNCEMENT: Final = "leader.json"


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

    def held_by_somebody(self) -> bool:
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

    def __init__(self, data_dir: Path, role: str) -> None:
        self._leader = FileLock(data_dir / LEADER)
        self._serve = FileLock(data_dir / SERVE)
        self._announcement = data_dir / ANNOUNCEMENT
        self._role = role

    @property
    def leads(self) -> bool:
        return self._leader.held

    def try_lead(self) -> bool:
        return self._leader.try_acquire()

    def claim_serve(self) -> bool:
        """Tell a leading `stdio` process to give way; false when another `serve` runs here."""
        return self._serve.try_acquire()

    def serve_wanted(self) -> bool:
        return self._serve.held_by_somebody()

    def announce(self, address: str | None) -> None:
        """Publish where the pages are, whole or not at all."""
        made = self._announcement.with_suffix(f".{os.getpid()}")
        made.touch(mode=0o600)
        made.write_bytes(msgspec.json.encode(Announcement(os.getpid(), self._role, address)))
        made.replace(self._announcement)

    def announced(self) -> Announcement | None:
        """What the leading process said, if one leads."""
        if not self._leader.held_by_somebody():
            return None
        try:
            return msgspec.json.decode(self._announcement.read_bytes(), type=Announcement)
        except (OSError, msgspec.MsgspecError):
            return None

    def step_down(self) -> None:
        if self._leader.held:
            self._announcement.unlink(missing_ok=True)
        self._leader.release()

    def release(self) -> None:
        self.step_down()
        self._serve.release()
