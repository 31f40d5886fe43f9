"""A server that is killed loses nothing it has acknowledged, and starts again as if nothing had been."""

from __future__ import annotations

import html
import http.client
import json
import re
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
    fetch,
    free_port,
    path_of,
)

pytestmark = [pytest.mark.slow, pytest.mark.prove, pytest.mark.own_database]

CALLERS = 8
ROUNDS = rounds(1, 2)
SIGNUP = "/api/tools/chieflab_signup_workspace"


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
                    connection.request("POST", SIGNUP, json.dumps({"email": "ada@example.org"}))
                    response = connection.getresponse()
                    body = response.read()
                    if response.status == 200:
                        self.acknowledged.append(path_of(json.loads(body)["deliveryUrl"]))
            except (OSError, http.client.HTTPException):
                return


def test_every_acknowledged_signup_outlives_kill_9(database_url: str, tmp_path: Path) -> None:
    settings = {"ASSENT_DATABASE_URL": database_url, **SECRETS, **UNLIMITED}
    promised: list[str] = []
    server = Serve(tmp_path, settings)
    try:
        for _ in range(ROUNDS):
            load = Load(server.port)
            eventually(load.has_enough, "150 signups are acknowledged")
            server.kill()
            load.join()
            promised += load.acknowledged
            # The same port and directory, at once: nothing of the dead process is in the way.
            server = Serve(tmp_path, settings, port=server.port)

        assert len(promised) >= 150 * ROUNDS
        with connected(server.port) as connection:
            for path in promised:
                connection.request("GET", path)
                response = connection.getresponse()
                response.read()
                assert response.status == 200
        keys = [claimed_key(server.port, path) for path in promised[-3:]]
        for key in keys:
            status, _ = fetch(
                server.port, "POST", "/api/tools/chieflab_get_workspace", {}, Authorization=f"Bearer {key}"
            )
            assert status == 200
    finally:
        server.__exit__()


def claimed_key(port: int, path: str) -> str:
    status, text = fetch(port, "POST", path)
    assert status == 200
    found = re.search(r"clp_live_[A-Za-z0-9_-]{64}", html.unescape(text))
    assert found is not None
    return found[0]


def test_a_killed_stdio_process_leaves_nothing_in_the_way_of_the_next(tmp_path: Path) -> None:
    settings = {"ASSENT_PORT": str(free_port())}
    for _ in range(2):
        with StdioClient(tmp_path, settings) as client:
            assert client.call("chieflab_get_workspace")["name"] == "local"
            client.process.kill()
    with StdioClient(tmp_path, settings) as client:
        assert client.call("chieflab_get_workspace")["name"] == "local"
        assert client.end() == 0
