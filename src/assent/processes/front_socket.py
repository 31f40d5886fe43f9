"""Where the socket of a data directory is."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Final

HELLO_BYTES: Final = 2_000_000
"""The longest description of what is wrapped."""
MAX_PATH_BYTES: Final = 100
"""The longest path of a socket, a little below the system's limit."""
NAME: Final = "wrap.sock"


def find_socket(data_dir: Path) -> Path:
    """Return the path of the socket: in the data directory, or, if that path is too long, in a directory
    that only this user can enter. Raises `PermissionError` if another user has made that."""
    path = data_dir / NAME
    if len(os.fsencode(path)) <= MAX_PATH_BYTES:
        return path
    named = hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"assent-{os.getuid()}-{named}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} belongs to another user. Use a shorter data directory.")
    return folder / NAME
