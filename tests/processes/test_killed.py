"""A server that is killed loses nothing it has acknowledged, and starts again as if nothing had been."""

from __future__ import annotations

import http.client
import threading
from pathlib import Path

import pytest
from tests.effort import rounds
from tests.processes.running import (
    SECRETS,
    UNLIMITED,
    Serve,
    StdioClient,
    connected,
    eventually,
    free_port,
    is_key,
    take_key,
)

pytestmark = [pytest.mark.slow, pytest.mark.prove, pytest.mark.own_database]

CALLERS = 8
ROUNDS = rounds(1, 2)


class Load:
    """Callers that sign up over and over and keep what they were promised, until the server is gone."""

    def __init__(self, port: int) -> None:
        self.acknowledged: list[str] = []
        self._threads = [threading.Thread(target=self._run, args=(port,)) for _ in range(CALLERS)]
        for thread in self._threads:
            thread.start()

    def has_enough(self) -> bool:
        return len(self.acknowledged) >= 150

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _run(self, port: int) -> None:
        with connected(port) as connection:
            try:
                while True:
                    self.acknowledged.append(take_key(port, connection))
            except (OSError, http.client.HTTPException):
                return


def test_every_acknowledged_signup_outlives_kill_9(database_url: str, tmp_path: Path) -> None:
    settings = {"ASSENT_DATABASE_URL": database_url, **SECRETS, **UNLIMITED}
    promised: list[str] = []
    server = Serve(tmp_path, settings)
    try:
        for _ in range(ROUNDS):
            load = Load(server.port)
            eventually(load.has_enough, "150 keys are acknowledged")
            server.kill()
            load.join()
            promised += load.acknowledged
            # The same port and directory, at once: nothing of the dead process is in the way.
            server = Serve(tmp_path, settings, port=server.port)

        assert len(promised) >= 150 * ROUNDS
        assert all(is_key(server.port, key) for key in promised)
    finally:
        server.__exit__()


def test_a_killed_stdio_process_leaves_nothing_in_the_way_of_the_next(tmp_path: Path) -> None:
    settings = {"ASSENT_PORT": str(free_port())}
    for _ in range(2):
        with StdioClient(tmp_path, settings) as client:
            assert client.call("chieflab_get_workspace")["name"] == "local"
            client.process.kill()
    with StdioClient(tmp_path, settings) as client:
        assert client.call("chieflab_get_workspace")["name"] == "local"
        assert client.end() == 0
