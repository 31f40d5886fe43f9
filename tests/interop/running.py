"""Starts the installed `assent` as its users do, and tells a client how to reach it.

Decides how long a server may take to come up, and that what it printed is shown when it does not. It is
unaware of MCP: it knows a command line, a health address and a data directory.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import msgspec
from tests.warm_processes import ASSENT, Process, run

START_SECONDS = 30.0
STOP_SECONDS = 15.0
POLL_SECONDS = 0.05


class Http(msgspec.Struct, frozen=True):
    """A served endpoint, and the key to use there, if any."""

    url: str
    api_key: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}


class Stdio(msgspec.Struct, frozen=True):
    """A command that a client starts and talks to."""

    command: str
    args: tuple[str, ...]
    settings: dict[str, str]

    @property
    def environment(self) -> dict[str, str]:
        return environment(**self.settings)


Target = Http | Stdio


class Workspace(msgspec.Struct, frozen=True, rename="camel"):
    workspace_id: str
    api_key: str


class Served(msgspec.Struct, frozen=True):
    base_url: str
    data_dir: Path

    @property
    def mcp_url(self) -> str:
        return f"{self.base_url}/mcp"


def environment(**extra: str) -> dict[str, str]:
    """This process's environment without settings of a server that its owner may run."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ASSENT_")}
    return {**inherited, **extra}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def healthy(base_url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{base_url}/healthz", timeout=5) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


@contextmanager
def serving(
    data_dir: Path, command: tuple[str, ...] = (ASSENT, "serve"), **settings: str
) -> Iterator[Served]:
    """A server on a free port of this machine, up when entered and stopped when left."""
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    data_dir.mkdir(parents=True, exist_ok=True)
    log = data_dir / "server.log"
    with log.open("wb") as output:
        process = Process(
            [*command, "--port", str(port), "--data-dir", str(data_dir)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment(**settings),
        )
        try:
            _wait_until_healthy(process, base_url, log)
            yield Served(base_url, data_dir)
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise


def _wait_until_healthy(process: subprocess.Popen[bytes], base_url: str, log: Path) -> None:
    deadline = monotonic() + START_SECONDS
    while not healthy(base_url):
        try:
            code = process.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            if monotonic() < deadline:
                continue
            raise AssertionError(f"not healthy after {START_SECONDS} s:\n{log.read_text()}") from None
        raise AssertionError(f"the server ended with {code}:\n{log.read_text()}")


def create_workspace(data_dir: Path, name: str) -> Workspace:
    done = run(
        [ASSENT, "workspace", "create", name, "--json", "--data-dir", str(data_dir)],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=START_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return msgspec.convert(json.loads(done.stdout), Workspace)


def stdio(data_dir: Path, **settings: str) -> Stdio:
    # A stdio process may serve the pages too: on a port of its own, whatever else runs on this machine.
    own = {"ASSENT_PORT": str(free_port())}
    return Stdio(ASSENT, ("stdio", "--data-dir", str(data_dir)), {**own, **settings})
