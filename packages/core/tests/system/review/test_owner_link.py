"""`assent owner-link` and the link that `assent serve` shows: to a terminal, and to nobody else without a trace."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.support import warm_processes
from tests.support.keyed_browser import KeyedClient
from tests.support.surfaces import settings_for

from assent.app import App
from assent.cli import run
from assent.engine.core import journal
from assent.kernel.ids import SYSTEM_WORKSPACE

PROGRAM = [sys.executable, "-m", "assent"]
LINK = re.compile(r"http://localhost:\d+/sign-in/[A-Za-z0-9_-]{54}")
DEADLINE_SECONDS = 30.0
BROWSER = {"Sec-Fetch-Site": "same-origin"}


def environment(data_dir: Path, port: int) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("ASSENT_", "RUN_TOKEN"))
    }
    own = {"ASSENT_DATA_DIR": str(data_dir), "ASSENT_PORT": str(port), "ASSENT_OPEN_BROWSER": "false"}
    return {**kept, "HOME": str(data_dir.parent), **own}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in environment(tmp_path / "data", free_port()).items():
        if name.startswith("ASSENT_") or name == "HOME":
            monkeypatch.setenv(name, value)
    return tmp_path / "data"


def issued(data_dir: Path) -> list[str]:
    """Who could read the links made so far."""

    async def read() -> list[str]:
        app = App(
            settings_for(f"sqlite:///{data_dir / 'assent.db'}", data_dir, secrets=(), run_token_secrets=())
        )
        try:
            events = await app.store.read(lambda: journal.read_stream(SYSTEM_WORKSPACE, SYSTEM_WORKSPACE))
            return [
                msgspec.json.decode(event.body)["shownTo"]
                for event in events
                if event.kind == "sign_in_link_issued"
            ]
        finally:
            await app.close()

    return asyncio.run(read())


def test_behind_a_pipe_no_link_is_made_and_the_words_say_why(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["owner-link"]) == 1

    said = capsys.readouterr()
    assert said.out == ""
    assert "shown to a terminal only" in said.err
    assert "--json" in said.err
    assert "sign-in/" not in said.err
    assert issued(data_dir) == []


def test_with_json_a_program_gets_it_and_the_journal_says_so(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["owner-link", "--json"]) == 0

    said = capsys.readouterr()
    answer = json.loads(said.out)
    assert LINK.fullmatch(answer["url"])
    assert answer["pagesReachable"] is False
    assert "assent" in said.err
    assert "serve" in said.err
    assert issued(data_dir) == ["pipe"]


def test_a_terminal_gets_the_link_alone_on_standard_output(
    data_dir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    assert run(["owner-link", "--name", "Ada Lovelace"]) == 0

    assert LINK.fullmatch(capsys.readouterr().out.strip())
    assert issued(data_dir) == ["terminal"]


def test_a_name_that_no_page_could_show_is_refused(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["owner-link", "--json", "--name", "x" * 300]) == 1
    assert capsys.readouterr().out == ""


@contextmanager
def serving(data_dir: Path, port: int, **streams: Any) -> Iterator[subprocess.Popen[bytes]]:
    process = warm_processes.Process([*PROGRAM, "serve"], env=environment(data_dir, port), **streams)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=DEADLINE_SECONDS)


@contextmanager
def signed_in(url: str) -> Iterator[httpx.Client]:
    """A browser that opened the link and pressed its button."""
    with KeyedClient(headers=BROWSER, timeout=DEADLINE_SECONDS) as browser:
        shown, pressed = browser.get(url), browser.post(url)
        assert (shown.status_code, pressed.status_code) == (200, 303), shown.text
        yield browser


def make_link(data_dir: Path, port: int) -> dict[str, Any]:
    """What `assent owner-link --json` prints."""
    made = warm_processes.run(
        [*PROGRAM, "owner-link", "--json"],
        env=environment(data_dir, port),
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(made.stdout)
    return answer


@pytest.mark.slow
def test_serve_shows_no_link_to_whoever_reads_its_output_and_logs_none(tmp_path: Path) -> None:
    data_dir, port = tmp_path / "data", free_port()
    process = warm_processes.Process(
        [*PROGRAM, "serve"],
        env={**environment(data_dir, port), "ASSENT_LOG_LEVEL": "debug"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        heard = ""
        while "is serving at" not in heard:
            line = process.stderr.readline().decode()
            assert line, heard
            heard += line
        answer = make_link(data_dir, port)
        assert answer["pagesReachable"] is True
        with signed_in(answer["url"]) as browser:
            secret = browser.cookies["assent-session"]
            assert browser.get(f"http://localhost:{port}/inbox").status_code == 200
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=DEADLINE_SECONDS)
    everything = heard + out.decode() + err.decode()
    assert LINK.search(everything) is None
    assert answer["url"].rpartition("/")[2] not in everything
    assert secret not in everything
    assert issued(data_dir) == ["pipe"]


@pytest.mark.slow
def test_where_only_stdio_runs_the_owner_can_sign_in_beside_it(tmp_path: Path) -> None:
    data_dir, port = tmp_path / "data", free_port()
    process = warm_processes.Process(
        [*PROGRAM, "stdio"],
        env=environment(data_dir, port),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        hello = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        }
        process.stdin.write(json.dumps(hello).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        deadline = time.monotonic() + DEADLINE_SECONDS
        answer: dict[str, Any] = {"pagesReachable": False}
        while not answer["pagesReachable"]:
            assert time.monotonic() < deadline
            answer = make_link(data_dir, port)
        with signed_in(answer["url"]) as browser:
            inbox = browser.get(f"http://localhost:{port}/inbox")
            assert "Nothing waits for you" in inbox.text
    finally:
        process.communicate(timeout=DEADLINE_SECONDS)
