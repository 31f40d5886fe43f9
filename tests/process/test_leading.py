"""One process of a data directory serves the pages and runs the jobs; when it goes, another takes its place."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from tests.process.running import Serve, StdioClient, eventually, fetch, free_port, is_healthy, path_of

pytestmark = pytest.mark.slow


def leader(data_dir: Path) -> tuple[str, int] | None:
    """The role and the number of the process that says it leads."""
    try:
        said = json.loads((data_dir / "leader.json").read_text())
    except (OSError, ValueError):
        return None
    return said["role"], said["pid"]


def link_from(client: StdioClient) -> str:
    return path_of(client.call("chieflab_signup_workspace", email="ada@example.org")["deliveryUrl"])


def test_pages_move_from_stdio_to_serve_and_back(tmp_path: Path) -> None:
    port = free_port()
    with StdioClient(tmp_path, {"ASSENT_PORT": str(port)}) as client:
        client.ask("initialize")
        eventually(lambda: is_healthy(port), "stdio serves the pages")
        first = link_from(client)
        assert fetch(port, "GET", first)[0] == 200

        with Serve(tmp_path, port=port) as server:
            eventually(lambda: leader(tmp_path) == ("serve", server.process.pid), "serve leads")
            second = link_from(client)
            for link in (first, second):
                assert fetch(port, "GET", link)[0] == 200
            assert server.terminate() == 0

        eventually(lambda: leader(tmp_path) == ("stdio", client.process.pid), "stdio leads again")
        eventually(lambda: is_healthy(port), "stdio serves the pages again")
        for link in (first, second, link_from(client)):
            assert fetch(port, "GET", link)[0] == 200
        assert client.end() == 0
    assert leader(tmp_path) is None


def test_a_leader_that_is_killed_is_replaced(tmp_path: Path) -> None:
    port = {"ASSENT_PORT": str(free_port())}
    with StdioClient(tmp_path, port) as one, StdioClient(tmp_path, port) as two:
        for client in (one, two):
            client.ask("initialize")
        eventually(lambda: leader(tmp_path) is not None and is_healthy(int(port["ASSENT_PORT"])), "one leads")
        leading, other = (one, two) if leader(tmp_path) == ("stdio", one.process.pid) else (two, one)
        link = link_from(other)

        leading.process.kill()

        eventually(lambda: leader(tmp_path) == ("stdio", other.process.pid), "the other leads")
        eventually(lambda: is_healthy(int(port["ASSENT_PORT"])), "the other serves the pages")
        assert fetch(int(port["ASSENT_PORT"]), "GET", link)[0] == 200


def test_a_killed_serve_gives_the_pages_back(tmp_path: Path) -> None:
    port = free_port()
    with StdioClient(tmp_path, {"ASSENT_PORT": str(port)}) as client, Serve(tmp_path, port=port) as server:
        client.ask("initialize")
        eventually(lambda: leader(tmp_path) == ("serve", server.process.pid), "serve leads")
        link = link_from(client)
        server.kill()

        eventually(lambda: leader(tmp_path) == ("stdio", client.process.pid), "stdio leads")
        eventually(lambda: is_healthy(port), "stdio serves the pages")
        assert fetch(port, "GET", link)[0] == 200


def test_where_nobody_can_serve_pages_no_dead_link_is_handed_out(tmp_path: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        with StdioClient(tmp_path, {"ASSENT_PORT": str(busy.getsockname()[1])}) as client:
            client.ask("initialize")
            eventually(lambda: leader(tmp_path) is not None, "stdio leads")
            refused = client.call("chieflab_signup_workspace", email="ada@example.org")
            assert refused["reason"] == "temporarily_unavailable"
            assert "assent serve" in refused["userMessage"]
