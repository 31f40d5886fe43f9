"""Starts the installed `assent` as its users do, and tells a client how to reach it. Unaware of MCP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from tests.support.processes.running import ASSENT, DEADLINE_SECONDS, Serve, environment, free_port
from tests.support.warm_processes import run


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
        return environment(self.settings)


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


@contextmanager
def serving(data_dir: Path, command: tuple[str, ...] = ASSENT, **settings: str) -> Iterator[Served]:
    """A server on a free port of this machine, up when entered and gone when left."""
    data_dir.mkdir(parents=True, exist_ok=True)
    with Serve(data_dir, settings, command=command) as server:
        yield Served(f"http://127.0.0.1:{server.port}", data_dir)


def create_workspace(data_dir: Path, name: str) -> Workspace:
    done = run(
        [*ASSENT, "workspace", "create", name, "--json", "--data-dir", str(data_dir)],
        capture_output=True,
        text=True,
        env=environment({}),
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return msgspec.convert(json.loads(done.stdout), Workspace)


def stdio(data_dir: Path, **settings: str) -> Stdio:
    # A stdio process may serve the pages too: on a port of its own, whatever else runs on this machine.
    own = {"ASSENT_PORT": str(free_port())}
    return Stdio(ASSENT[0], ("stdio", "--data-dir", str(data_dir)), {**own, **settings})
