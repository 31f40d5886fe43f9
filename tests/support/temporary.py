"""Temporary files of the tests live in memory where the system has room: syncs to a disk were most of the run time.

What a disk does when it is full or when power fails is tested on purpose, elsewhere.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

ROOM_BYTES = 2**31


def memory_disk() -> Path | None:
    """The memory file system, or None where there is none or it is small."""
    disk = Path("/dev/shm")  # noqa: S108 - every user of it makes a directory of its own there
    return disk if disk.is_dir() and shutil.disk_usage(disk).free > ROOM_BYTES else None


def use_memory_disk() -> None:
    """Point this process and its children to the memory file system, unless TMPDIR says otherwise."""
    disk = memory_disk()
    if disk is not None:
        tempfile.tempdir = os.environ.setdefault("TMPDIR", str(disk))
