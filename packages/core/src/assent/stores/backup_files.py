"""The file of a backup: complete or absent, readable by its owner alone."""

from __future__ import annotations

import os
from pathlib import Path

from assent.kernel.structs import Record


class BackupError(Exception):
    """A backup cannot be written or used. The message says why and what to do."""


class LoadedBackup(Record):
    """A backup that was loaded beside the store, and the name under which it can be removed."""

    url: str
    name: str


def create(partial: Path, target: Path) -> None:
    """Create the file into which a backup is written. Raises `BackupError` if the target exists."""
    if target.exists():
        raise BackupError(f"{target} exists. A backup replaces no file: name another one.")
    if not target.parent.is_dir():
        raise BackupError(f"There is no directory {target.parent}. Make it, or name another file.")
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def publish(partial: Path, target: Path) -> None:
    """Name the finished file. A file that appeared meanwhile stays."""
    sync(partial)
    try:
        os.link(partial, target)
    except FileExistsError:
        raise BackupError(f"{target} exists. A backup replaces no file: name another one.") from None
    sync(target.parent)


def sync(path: Path) -> None:
    """Have the system write a file or a directory to disk."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
