"""A disk without space: told, nothing half done, and over as soon as there is space again."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import pytest
from tests.support.processes.running import (
    UNLIMITED,
    WRITING_TOOL,
    Serve,
    StdioClient,
    eventually,
    fetch,
    free_port,
    is_healthy,
    make_small_write,
    sign_up,
    take_key,
)

pytestmark = pytest.mark.slow

FREE = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def limit_files(pid: int, size: int | None) -> None:
    """No file of that process may grow past this size: what a full disk is to it, for one process alone."""
    assert sys.platform == "linux"
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY) if size is not None else FREE)


def sizes(data_dir: Path) -> int:
    return max(path.stat().st_size for path in data_dir.glob("assent.db*"))


def test_a_full_disk_is_503_for_writers_and_nothing_for_readers(tmp_path: Path) -> None:
    with Serve(tmp_path, UNLIMITED) as server:
        before, key = [sign_up(server.port) for _ in range(3)], take_key(server.port)
        limit_files(server.process.pid, sizes(tmp_path))

        def refused() -> bool:
            # The log may have room left inside its present size.
            path, bearer = f"/api/tools/{WRITING_TOOL}", f"Bearer {key}"
            status, text = fetch(server.port, "POST", path, make_small_write(), Authorization=bearer)
            assert status in (200, 503)
            return status == 503 and json.loads(text)["reason"] == "temporarily_unavailable"

        eventually(refused, "the disk is full")
        for link in before:
            assert fetch(server.port, "GET", link)[0] == 200
        assert fetch(server.port, "GET", "/healthz")[0] == 200
        eventually(lambda: fetch(server.port, "GET", "/readyz")[0] == 503, "it says that it is not ready")

        limit_files(server.process.pid, None)
        eventually(lambda: fetch(server.port, "GET", "/readyz")[0] == 200, "it is ready again")
        after = sign_up(server.port)
        for link in (*before, after):
            assert fetch(server.port, "GET", link)[0] == 200
        assert server.terminate() == 0
    assert "Traceback" not in server.log


def test_on_stdio_a_full_disk_is_said_and_survived(tmp_path: Path) -> None:
    with StdioClient(tmp_path, {"ASSENT_PORT": str(free_port()), **UNLIMITED}) as client:
        client.ask("initialize")
        eventually((tmp_path / "leader.json").exists, "stdio leads")
        assert client.call(WRITING_TOOL, **make_small_write())["ok"]
        limit_files(client.process.pid, sizes(tmp_path))

        def refused() -> bool:
            payload = client.call(WRITING_TOOL, **make_small_write())
            return payload["ok"] is False and payload["statusCode"] == 503

        eventually(refused, "the disk is full")
        assert client.call("chieflab_get_workspace")["name"] == "local"

        limit_files(client.process.pid, None)
        assert client.call(WRITING_TOOL, **make_small_write())["ok"]
        assert client.end() == 0


def test_a_disk_that_is_full_just_when_the_pages_change_hands_is_tried_again(tmp_path: Path) -> None:
    port = free_port()
    with Serve(tmp_path, port=port) as server, StdioClient(tmp_path, {"ASSENT_PORT": str(port)}) as client:
        client.ask("initialize")
        eventually((tmp_path / "leader.json").exists, "serve leads")
        limit_files(client.process.pid, 0)
        server.kill()
        eventually(lambda: client.log.count("cannot lead") >= 2, "stdio tries to lead and says why it cannot")

        limit_files(client.process.pid, None)
        eventually(lambda: is_healthy(port), "stdio serves the pages")
