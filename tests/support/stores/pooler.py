"""Debian's pgbouncer before a PostgreSQL server of the tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import pytest

UNPACKED: Final = Path(__file__).parents[3] / ".programs/usr"
PROGRAM: Final = shutil.which("pgbouncer") or str(UNPACKED / "sbin/pgbouncer")
START_SECONDS: Final = 20


@contextmanager
def pooled(url: str, mode: str = "transaction", size: int = 4) -> Iterator[str]:
    """The URL of a database through a pooler with so many connections."""
    if not Path(PROGRAM).exists():
        pytest.skip("pgbouncer could not be unpacked")
    server = urlsplit(url)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="assent-pooler-"))
    folder.chmod(0o755)
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n* = host={server.hostname} port={server.port} user={server.username}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\nunix_socket_dir =\n"
        f"pool_mode = {mode}\ndefault_pool_size = {size}\nmax_client_conn = 200\n"
    )
    libraries = ":".join(map(str, (UNPACKED / "lib").glob("*-linux-gnu")))
    user = ("setpriv", "--reuid=65534", "--clear-groups") if os.geteuid() == 0 else ()
    running = subprocess.Popen(
        [*user, PROGRAM, "--quiet", str(settings)], env={**os.environ, "LD_LIBRARY_PATH": libraries}
    )
    try:
        _await(port)
        yield urlunsplit(server._replace(netloc=f"{server.username}@127.0.0.1:{port}"))
    finally:
        running.kill()
        running.wait()
        shutil.rmtree(folder)


def _await(port: int) -> None:
    ends = time.monotonic() + START_SECONDS
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if time.monotonic() > ends:
            raise TimeoutError("pgbouncer does not listen")
