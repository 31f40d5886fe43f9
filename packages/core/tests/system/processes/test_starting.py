"""Starting: on a busy port, beside others on an empty directory, without a database, with nothing to write to."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import threading
from pathlib import Path

import pytest
from tests.support.processes.running import (
    ASSENT,
    SECRETS,
    Serve,
    StdioClient,
    environment,
    fetch,
    free_port,
    sign_up,
)

pytestmark = pytest.mark.slow


def test_an_address_that_is_not_ours_is_said_plainly(tmp_path: Path) -> None:
    done = subprocess.run(
        [*ASSENT, "serve", "--host", "203.0.113.1", "--port", str(free_port()), "--data-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment({}),
        timeout=30,
        check=False,
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "203.0.113.1" in done.stderr
    assert "Traceback" not in done.stderr


def test_several_processes_may_make_the_same_empty_directory_their_own_at_once(tmp_path: Path) -> None:
    port = free_port()
    servers = [Serve(tmp_path, wait=False) for _ in range(2)]
    clients = [StdioClient(tmp_path, {"ASSENT_PORT": str(port)}) for _ in range(3)]
    names: list[str] = []
    try:
        threads = [
            threading.Thread(
                target=lambda client=client: names.append(client.call("chieflab_get_workspace")["name"])
            )
            for client in clients
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for server in servers:
            server.wait_until_healthy()
            assert fetch(server.port, "GET", "/readyz")[0] == 200

        # All of them work with the same secrets and the same database: a link of one is good at the other.
        link = sign_up(servers[0].port)
        assert fetch(servers[1].port, "GET", link)[0] == 200
        assert names == ["local"] * 3
    finally:
        for server in servers:
            server.__exit__()
        for client in clients:
            client.__exit__()
    assert not any("Traceback" in log for log in (*(s.log for s in servers), *(c.log for c in clients)))
    with sqlite3.connect(tmp_path / "assent.db") as database:
        assert database.execute("SELECT count(*) FROM workspaces").fetchone() == (1,)


def test_what_a_first_start_makes_is_for_its_owner_alone(tmp_path: Path) -> None:
    data_dir = tmp_path / "new"
    before = os.umask(0)
    try:
        with Serve(data_dir):
            pass
    finally:
        os.umask(before)

    assert stat.S_IMODE(data_dir.stat().st_mode) & 0o077 == 0
    for path in data_dir.rglob("*"):
        if path.is_file():
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path.name


def test_without_its_database_serve_starts_says_503_and_can_be_stopped(tmp_path: Path) -> None:
    url = f"postgresql://nobody:hunter2@127.0.0.1:{free_port()}/assent"
    with Serve(tmp_path, {"ASSENT_DATABASE_URL": url, **SECRETS}) as server:
        assert fetch(server.port, "GET", "/readyz")[0] == 503
        status, text = fetch(server.port, "POST", "/api/tools/chieflab_signup_workspace", {"email": "a@b.c"})
        assert (status, json.loads(text)["reason"]) == (503, "temporarily_unavailable")
        assert server.terminate() == 0
    assert "hunter2" not in server.log
    assert "Traceback" not in server.log
