"""Where links lead: to a server on the same data, else to sockets that are this process's own on every loopback."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.support.processes.running import free_port

from assent.net.loopback import LOOPBACKS
from assent.processes.listening import bind, leadership_of, listen, other_ports
from assent.processes.stdio import StdioPages
from assent.serving.leader import Leadership
from assent.settings.load import Settings, SettingsError, load_settings

pytestmark = pytest.mark.slow


def settings_in(data_dir: Path, port: int, **flags: str) -> Settings:
    data_dir.mkdir(exist_ok=True)
    given = {"data_dir": str(data_dir), "port": str(port), **flags}
    return load_settings(given, {"HOME": str(data_dir)}).settings


@contextlib.contextmanager
def pages_of(settings: Settings) -> Iterator[StdioPages]:
    leadership = leadership_of(settings, "stdio")
    pages = StdioPages(settings, leadership)
    try:
        yield pages
    finally:
        pages.close()
        leadership.release()


def loopbacks_here() -> list[str]:
    """Those that this machine has."""
    made = listen("127.0.0.1", free_port())
    found = [each.getsockname()[0] for each in made]
    for each in made:
        each.close()
    return found


@contextlib.contextmanager
def another_program(address: str, port: int) -> Iterator[None]:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as taken:
        taken.bind((address, port))
        taken.listen()
        yield


def is_free(address: str, port: int) -> bool:
    try:
        with another_program(address, port):
            return True
    except OSError:
        return False


def test_a_port_is_taken_on_every_loopback_address_or_on_none() -> None:
    here = loopbacks_here()
    assert set(here) <= set(LOOPBACKS)
    for held in here:
        port = free_port()
        with another_program(held, port):
            with pytest.raises(OSError, match="in use"):
                listen("127.0.0.1", port)
            assert all(is_free(other, port) for other in here if other != held)


def test_no_link_is_made_to_a_port_that_another_program_holds(tmp_path: Path) -> None:
    for held in loopbacks_here():
        settings = settings_in(tmp_path / held.replace(":", "-"), free_port())
        with another_program(held, settings.port), pages_of(settings) as pages:
            address = pages.look()
            assert address is not None
            assert address != settings.base_url
            assert pages.listeners[0].getsockname()[1] == int(address.rpartition(":")[2])


def test_two_data_directories_do_not_share_an_address(tmp_path: Path) -> None:
    port = free_port()
    one, two = settings_in(tmp_path / "one", port), settings_in(tmp_path / "two", port)
    with pages_of(one) as first, pages_of(two) as second:
        assert first.look() == one.base_url
        assert second.look() not in (None, one.base_url)
        assert second.address == f"http://localhost:{other_ports(two)[0]}"


def test_chats_on_the_same_data_hand_out_the_address_of_the_one_that_listens(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, free_port())
    with pages_of(settings) as first, pages_of(settings) as second:
        assert first.look() == second.look() == settings.base_url
        assert second.listeners == []


def test_a_server_on_the_same_data_is_found_wherever_it_listens(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, free_port())
    serve = Leadership(tmp_path, "serve")
    with pages_of(settings) as pages:
        assert pages.look() == settings.base_url
        assert pages.note() is not None
        assert serve.claim_serve()
        serve.announce_serving("http://127.0.0.1:8200")
        assert pages.look() == "http://127.0.0.1:8200"
        assert pages.note() is None
        serve.release()
        assert pages.look() == settings.base_url


def test_while_a_server_starts_and_has_said_nothing_no_link_is_made(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, free_port())
    serve = Leadership(tmp_path, "serve")
    assert serve.claim_serve()
    with pages_of(settings) as pages:
        assert pages.look() is None
        assert pages.listeners == []
    serve.release()


def test_what_a_killed_process_announced_is_not_handed_out(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, free_port())
    for name in ("leader.json", "serve.json"):
        left = {"pid": 1, "role": "serve", "address": "http://127.0.0.1:1"}
        (tmp_path / name).write_text(json.dumps(left))
    with pages_of(settings) as pages:
        assert pages.look() == settings.base_url
    serve = Leadership(tmp_path, "serve")
    assert serve.claim_serve()
    assert serve.announced() is None
    serve.release()


def test_a_database_that_others_serve_is_reached_where_the_settings_say(tmp_path: Path) -> None:
    shared = msgspec.structs.replace(
        settings_in(tmp_path, free_port()), database_url="postgresql://me:hunter2@db/assent"
    )
    named = msgspec.structs.replace(shared, base_url="https://assent.example.com")
    with pages_of(named) as pages:
        assert (pages.look(), pages.note(), pages.listeners) == (named.base_url, None, [])
    with pages_of(shared) as pages:
        assert pages.look() == shared.base_url
        assert pages.listeners
    serve = leadership_of(shared, "serve")
    assert serve.claim_serve()
    serve.announce_serving("http://127.0.0.1:8200")
    with pages_of(shared) as pages:
        assert pages.look() == "http://127.0.0.1:8200"
    serve.release()


def test_a_link_that_ends_with_the_chat_says_how_to_keep_it(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, free_port())
    with pages_of(settings) as pages:
        pages.look()
        note = pages.note() or ""
        assert f"serve --data-dir {tmp_path}" in note
    with another_program("127.0.0.1", settings.port), pages_of(settings) as pages:
        pages.look()
        assert f"--port {other_ports(settings)[0]} " in (pages.note() or "")


def test_a_taken_port_is_said_to_be_another_program_s_or_our_own(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, free_port())
    for held in loopbacks_here():
        with (
            another_program(held, settings.port),
            pytest.raises(SettingsError, match=f"on {held} is in use by another program"),
        ):
            bind(settings)
    with another_program("127.0.0.1", settings.port):
        serve = Leadership(tmp_path, "serve")
        assert serve.claim_serve()
        serve.announce_serving(settings.base_url)
        with pytest.raises(
            SettingsError,
            match=r"Assent itself.*\nUse it, stop it and run this again, or",
        ):
            bind(settings)
        serve.release()
