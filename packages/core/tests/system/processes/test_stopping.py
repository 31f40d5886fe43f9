"""Stopping: what was begun is finished, nothing is left behind, and nobody idle holds it up."""

from __future__ import annotations

import json
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.support.processes.running import (
    ODD,
    UNLIMITED,
    Serve,
    connected,
    eventually,
    fetch,
    is_healthy,
    is_key,
    take_key,
)

pytestmark = pytest.mark.slow

PUBLIC = "chieflab_list_connectors"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_call_in_flight_is_finished_and_no_new_one_is_taken(tmp_path: Path, number: signal.Signals) -> None:
    gate = str(tmp_path / "gate")
    answers: list[tuple[int, str]] = []
    with Serve(tmp_path / "data", {"ODD_TOOL": "slow", "ODD_GATE": gate}, command=ODD) as server:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": PUBLIC}}
        caller = threading.Thread(target=lambda: answers.append(fetch(server.port, "POST", "/api/mcp", call)))
        caller.start()
        eventually(Path(gate + ".begun").exists, "the call has begun")

        server.process.send_signal(number)
        eventually(lambda: not is_healthy(server.port), "no new calls are taken")
        assert server.process.poll() is None
        Path(gate + ".go").touch()

        caller.join()
        assert server.wait() == 0
    assert answers[0][0] == 200
    assert json.loads(answers[0][1])["result"]["isError"] is False
    assert "Traceback" not in server.log


def test_connections_that_only_wait_do_not_hold_up_the_end(tmp_path: Path) -> None:
    with (
        Serve(tmp_path) as server,
        connected(server.port) as idle,
        socket.socket() as silent,
        socket.socket() as half,
    ):
        idle.request("GET", "/healthz")
        idle.getresponse().read()
        silent.connect(("127.0.0.1", server.port))
        half.connect(("127.0.0.1", server.port))
        half.sendall(b"POST /api/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{")
        assert is_healthy(server.port)

        started = time.monotonic()
        assert server.terminate() == 0
        assert time.monotonic() - started < 5


def test_after_a_stop_the_directory_holds_a_whole_database_and_no_leader(tmp_path: Path) -> None:
    with Serve(tmp_path, UNLIMITED) as server:
        keys = [take_key(server.port) for _ in range(20)]
        assert server.terminate() == 0

    assert not (tmp_path / "leader.json").exists()
    log = tmp_path / "assent.db-wal"
    assert not log.exists() or log.stat().st_size == 0
    with Serve(tmp_path) as server:
        assert all(is_key(server.port, key) for key in keys)


def test_every_call_around_a_stop_is_answered_whole_or_not_taken_at_all(tmp_path: Path) -> None:
    """A caller sees a complete answer or a closed connection, and what was answered is there afterwards."""
    acknowledged: list[str] = []
    broken: list[Any] = []

    def call_on(port: int) -> None:
        while True:
            try:
                acknowledged.append(take_key(port))
            except (ConnectionError, TimeoutError):
                return
            except Exception as error:
                if type(error).__name__ in ("RemoteDisconnected",):
                    return
                broken.append(error)
                return

    with Serve(tmp_path, UNLIMITED) as server:
        threads = [threading.Thread(target=call_on, args=(server.port,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        eventually(lambda: len(acknowledged) > 50, "keys are acknowledged")
        assert server.terminate() == 0
        for thread in threads:
            thread.join()
    assert broken == []
    with Serve(tmp_path, port=server.port) as server:
        assert all(is_key(server.port, key) for key in acknowledged)
