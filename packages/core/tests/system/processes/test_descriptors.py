"""A crowd of half requests on a process with few descriptors: others are answered, and the store opens its files."""

from __future__ import annotations

import contextlib
import json
import socket
from pathlib import Path

import pytest
from tests.support.processes.running import ASSENT, UNLIMITED, Serve, fetch, is_key, take_key

pytestmark = pytest.mark.slow

FEW = ("sh", "-c", f'ulimit -n 256; exec {ASSENT[0]} "$@"', "assent")
HALVES = (
    b"POST /api/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{",
    b"GET /healthz HTTP/1.1\r\nHost: 127",
)


def test_three_hundred_half_requests_keep_nobody_out(tmp_path: Path) -> None:
    with Serve(tmp_path, UNLIMITED, command=FEW) as server, contextlib.ExitStack() as held:
        for number in range(300):
            half_open = held.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
            with contextlib.suppress(ConnectionError):
                half_open.sendall(HALVES[number % 2])

        for _ in range(20):
            assert is_key(server.port, take_key(server.port))
        status, text = fetch(server.port, "GET", "/readyz")

        assert (status, json.loads(text)) == (200, {"ok": True})
        open_now = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
        assert open_now <= 256 - 40
        assert server.terminate() == 0
    assert "unable to open" not in server.log
    assert "Too many open files" not in server.log
