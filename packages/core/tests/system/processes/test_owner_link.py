"""`assent serve` and `assent open` open the owner's link in a browser: on a terminal, once, and so that no other user
of the machine can read it."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
import pytest
from tests.support import warm_processes
from tests.support.processes.running import free_port

from assent.cli import run
from assent.processes.owner_link import can_open

PROGRAM = [warm_processes.ASSENT]
LINK = re.compile(r"http://[a-z0-9.]+:\d+/sign-in/[A-Za-z0-9_-]{54}")
SECONDS = 30.0


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({}, "linux", False),
        ({"SSH_CONNECTION": "a b c d"}, "linux", False),
        ({"SSH_CONNECTION": "a b c d", "DISPLAY": "localhost:10.0"}, "linux", True),
        ({}, "darwin", True),
        ({"SSH_CONNECTION": "a b c d"}, "darwin", False),
        ({}, "win32", True),
        ({"DISPLAY": ":0", "CI": "true"}, "linux", False),
        ({"BROWSER": "firefox"}, "linux", True),
    ],
)
def test_a_browser_is_opened_where_its_window_can_appear(
    environ: dict[str, str], platform: str, expected: bool
) -> None:
    assert can_open(environ, platform) is expected


class Workstation:
    """A terminal on a machine with a browser that notes what it was asked to open."""

    def __init__(self, folder: Path) -> None:
        self.data_dir = folder / "data"
        self.notes = folder / "opened"
        browser = folder / "browser"
        browser.write_text(f'#!/bin/sh\necho "$1" >> {self.notes}\n')
        browser.chmod(0o755)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ASSENT_", "RUN_TOKEN")) and name not in ("CI", "DISPLAY")
        }
        self.environ = {
            **kept,
            "HOME": str(folder),
            "BROWSER": str(browser),
            "ASSENT_DATA_DIR": str(self.data_dir),
            "ASSENT_PORT": str(free_port()),
        }

    @property
    def opened(self) -> list[str]:
        return self.notes.read_text().split() if self.notes.exists() else []

    @contextmanager
    def run(self, *words: str) -> Iterator[Callable[[Callable[[str], bool]], str]]:
        """Run a command in the terminal; the function reads what it shows until it is enough."""
        controller, terminal = pty.openpty()
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": terminal, "stderr": terminal}
        shown = ""

        def read_until(done: Callable[[str], bool]) -> str:
            nonlocal shown
            deadline = time.monotonic() + SECONDS
            while not done(shown):
                ready, _, _ = select.select([controller], [], [], 0.02)
                assert time.monotonic() < deadline, shown
                if ready:
                    shown += os.read(controller, 65_536).decode()
            return shown

        with warm_processes.Process([*PROGRAM, *words], env=self.environ, **streams) as process:
            os.close(terminal)
            try:
                yield read_until
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(SECONDS)
        os.close(controller)


@pytest.fixture
def workstation(tmp_path: Path) -> Workstation:
    return Workstation(tmp_path)


def follow(address: str) -> str:
    """The link to which the opened file leads, which only its owner can read."""
    assert LINK.search(address) is None
    path = Path(unquote(urlsplit(address).path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = LINK.search(path.read_text())
    assert found is not None
    return found[0]


@pytest.mark.slow
def test_serve_opens_the_link_that_it_shows_until_the_owner_is_signed_in(workstation: Workstation) -> None:
    with workstation.run("serve") as read_until:
        shown = read_until(lambda text: bool(workstation.opened) and LINK.search(text) is not None)
        [address] = workstation.opened
        link = follow(address)
        assert link in shown
        with httpx.Client(headers={"Sec-Fetch-Site": "same-origin"}, timeout=SECONDS) as browser:
            assert browser.get(link).status_code == 200
            assert browser.post(link).status_code == 303

    with workstation.run("serve") as read_until:
        read_until(lambda text: LINK.search(text) is not None)
        assert httpx.get(f"http://127.0.0.1:{workstation.environ['ASSENT_PORT']}/health").status_code < 500
    assert workstation.opened == [address]


@pytest.mark.slow
def test_serve_opens_nothing_on_request_and_open_opens_the_running_server(workstation: Workstation) -> None:
    with workstation.run("serve", "--no-open") as read_until:
        read_until(lambda text: LINK.search(text) is not None)
        with workstation.run("open") as read_open:
            read_open(lambda text: bool(workstation.opened) and LINK.search(text) is not None)
        assert len(workstation.opened) == 1
        assert httpx.get(follow(workstation.opened[0])).status_code == 200
        piped = warm_processes.run(
            [*PROGRAM, "open"], env=workstation.environ, capture_output=True, text=True
        )
        assert piped.returncode == 1
        assert LINK.search(piped.stdout + piped.stderr) is None
        asked = warm_processes.run(
            [*PROGRAM, "open", "--json"], env=workstation.environ, capture_output=True, text=True
        )
        assert LINK.search(asked.stdout) is not None
        assert len(workstation.opened) == 1
        workstation.environ["CI"] = "true"
        with workstation.run("open") as read_open:
            read_open(lambda text: LINK.search(text) is not None)
        assert len(workstation.opened) == 1


def test_without_a_server_open_says_how_to_start_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSENT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ASSENT_PORT", str(free_port()))
    assert run(["open", "--json"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "serve" in said.err
