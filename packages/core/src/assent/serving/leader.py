"""Leader election among the processes on one data directory. The leader serves the pages and runs
the jobs.

The first process to lock `leader.lock` leads. The lock is released when its process ends, and
another process takes over. A leading `stdio` process gives way to `assent serve`, which holds
`serve.lock` while it runs or wants to start. The leader announces the address of its pages, so that
every process on the directory can hand out working links. `serve` announces its address as soon as
it listens, even if another process leads. An announcement is valid while the lock of its process is
held.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import Final

import msgspec

from assent.kernel.structs import WireRecord

LEADER: Final = "leader.lock"
SERVE: Final = "serve.lock"
ANNOUNCEMENT: Final = "leader.json"
SERVING: Final = "serve.json"


class Announcement(WireRecord):
    """The leader and its pages' address; None if the pages could not be served."""

    pid: int
    role: str
    address: str | None


class FileLock:
    """An exclusive lock on a file, held by this process until it is released or the process
    ends."""

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
        """Whether any process holds the lock. Does not keep it."""
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
        """`of` separates databases that share one directory."""
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
        """Tell a leading `stdio` process to give way. Returns False if another `serve` runs
        here."""
        return self._taken(self._serve, self._serving)

    def serve_wanted(self) -> bool:
        return self._serve.is_held_anywhere()

    def announce(self, address: str | None) -> None:
        """Publish the address of the leader's pages."""
        self._publish(self._announcement, address)

    def announce_serving(self, address: str) -> None:
        """Publish the address of `serve`. It holds its lock, but may not lead yet."""
        if self._serve.held:
            self._publish(self._serving, address)

    def announced(self) -> Announcement | None:
        """The announcement of `serve` if it runs, else that of the leader, else None."""
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
        """Take a lock and delete the announcement that a killed process left behind."""
        had = lock.held
        if not lock.try_acquire():
            return False
        if not had:
            said.unlink(missing_ok=True)
        return True

    def _publish(self, path: Path, address: str | None) -> None:
        """Write the announcement atomically."""
        made = path.with_suffix(f".{os.getpid()}")
        made.touch(mode=0o600)
        made.write_bytes(msgspec.json.encode(Announcement(os.getpid(), self._role, address)))
        made.replace(path)
