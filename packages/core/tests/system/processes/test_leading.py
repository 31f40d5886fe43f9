"""One process of a data directory serves the pages and runs the jobs; when it goes, another takes its place."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest
from tests.support.processes.running import (
    SECRETS,
    Serve,
    StdioClient,
    eventually,
    fetch,
    free_port,
    is_healthy,
    path_of,
)

from assent.processes.listening import MAX_PATH_BYTES, find_socket

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


def test_where_another_program_has_the_port_the_link_leads_to_one_of_our_own(tmp_path: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        taken = busy.getsockname()[1]
        with StdioClient(tmp_path, {"ASSENT_PORT": str(taken)}) as client:
            client.ask("initialize")
            signup = client.call("chieflab_signup_workspace", email="ada@example.org")
            own = int(signup["deliveryUrl"].split(":")[2].partition("/")[0])
            assert own != taken
            assert fetch(own, "GET", path_of(signup["deliveryUrl"]))[0] == 200
            assert b"while this chat is open" in client.seen[-1]
            assert f"--port {own}".encode() in client.seen[-1]
            assert is_healthy(own)

            # A server that starts elsewhere takes the pages over, and the link of before goes on working.
            with Serve(tmp_path) as server:
                eventually(lambda: leader(tmp_path) == ("serve", server.process.pid), "serve leads")
                assert client.call("chieflab_signup_workspace", email="b@example.org")[
                    "deliveryUrl"
                ].startswith(f"{server.base_url}/")
                assert fetch(own, "GET", path_of(signup["deliveryUrl"]))[0] == 200


def test_what_stdio_hands_out_and_publishes_is_at_the_server_on_the_same_data(tmp_path: Path) -> None:
    with Serve(tmp_path) as server, StdioClient(tmp_path) as client:
        client.ask("initialize")
        staged = client.call("chieflab_post", channel="site", body="We are open on Sundays now.")
        assert staged["reviewUrl"].startswith(f"{server.base_url}/runs/")
        assert b"while this chat is open" not in client.seen[-1]
        action_id = staged["actions"][0]["id"]
        shown = client.call("chieflab_get_action", actionId=action_id)
        client.call("chieflab_approve_action", actionId=action_id, digest=shown["digest"])
        sent = client.call("chieflab_execute_approved_action", actionId=action_id, idempotencyKey="execute-1")
        assert sent["externalUrl"].startswith(f"{server.base_url}/feed/")


def test_on_postgresql_links_lead_to_the_server_of_the_same_database(
    empty_postgres_url: str, tmp_path: Path
) -> None:
    shared = {"ASSENT_DATABASE_URL": empty_postgres_url, "ASSENT_PORT": str(free_port()), **SECRETS}
    with Serve(tmp_path, shared) as server, StdioClient(tmp_path, shared) as client:
        client.ask("initialize")
        url = client.call("chieflab_signup_workspace", email="ada@example.org")["deliveryUrl"]
        assert url.startswith(f"{server.base_url}/claim/")
        assert fetch(server.port, "GET", path_of(url))[0] == 200
        assert server.terminate() == 0
        own = client.call("chieflab_signup_workspace", email="ada@example.org")
        port = int(own["deliveryUrl"].split(":")[2].partition("/")[0])
        assert fetch(port, "GET", path_of(own["deliveryUrl"]))[0] == 200
        assert b"while this chat is open" in client.seen[-1]


def test_a_server_leads_wherever_its_data_are_and_without_a_socket_for_wrapped_servers(
    tmp_path: Path,
) -> None:
    deep = tmp_path.joinpath(*["a-long-name-of-a-folder"] * 6)
    socket_path = find_socket(deep)
    assert len(os.fsencode(socket_path)) <= MAX_PATH_BYTES
    socket_path.parent.rmdir()
    deep.mkdir(parents=True, mode=0o700)

    for refused in (False, True):
        if refused:
            socket_path.parent.mkdir(mode=0o777)
            socket_path.parent.chmod(0o777)
        try:
            with Serve(deep, {"TMPDIR": str(deep)}) as server:
                eventually(lambda: leader(deep) == ("serve", server.process.pid), "it leads")
                assert socket_path.exists() is not refused
                assert server.terminate() == 0
            assert ("`assent wrap` cannot reach this server" in server.log) is refused
        finally:
            socket_path.parent.rmdir()
