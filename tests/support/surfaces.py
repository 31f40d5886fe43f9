"""The same server over every surface: {HTTP, stdio} × {SQLite, PostgreSQL}, by one fixture.

A test that takes `surface` runs over a sample of the pairs, or over all four in a folder `contract` and with the marker
`every_surface`. It speaks to a whole server in this process: the real store, edge, MCP server and transport code, with
a clock that is a value.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx
import msgspec
import pytest
from tests.support.keys import make_key, make_workspace
from tests.support.sqlite_files import new_sqlite

from assent.app import App
from assent.engine.core.tenancy import IssuedKey, KeyMode
from assent.jobs.kinds import job_kinds
from assent.jobs.worker import Runner
from assent.kernel.ids import WorkspaceId
from assent.processes.serve import Surfaces
from assent.serving.edge import Credentials
from assent.serving.stdio import StdioSession
from assent.settings.load import Settings

BASE_URL = "http://127.0.0.1:8080"
START_MS = 1_790_000_000_000
SECRET = "a run token secret for the tests, long enough"
MASTER = "a master secret for the tests only, long enough"


class ManualClock:
    """Time that moves when a test says so."""

    def __init__(self, now_ms: int = START_MS) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def advance(self, *, seconds: float = 0, hours: float = 0, days: float = 0) -> None:
        self._now_ms += int((seconds + 3600 * hours + 86_400 * days) * 1000)


@dataclass(frozen=True)
class Outcome:
    """What a call came back as, whatever the transport."""

    payload: dict[str, Any]
    is_error: bool
    message: dict[str, Any]
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    replay: dict[str, str] | None = None
    """What a replayed answer has beside the payload, which is as it was first given."""

    @property
    def reason(self) -> str | None:
        return self.payload.get("reason")


def _refuse_names_of_tools(payload: dict[str, Any]) -> None:
    """What an agent repeats to a person names no tool and no setting, whichever answer it is in."""
    for answer in (payload, payload.get("agentGuide") or {}):
        said = " ".join(str(answer.get(name, "")) for name in ("userMessage", "summaryForUser"))
        assert re.search(r"\bchieflab_\w|\bASSENT_[A-Z]", said) is None, said


async def issue_first_key(app: App) -> str:
    """Prepare the store of an app that does not serve, close it, and return a key of the local workspace."""
    try:
        await app.prepare()
        return await make_key(app)
    finally:
        await app.close()


async def run_due_jobs(app: App) -> int:
    """Run what is due until nothing is; how many ran."""
    runner, total = Runner(app.store, app.clock, job_kinds(app), worker="test"), 0
    while ran := await runner.run_due_once():
        total += ran
    return total


class Surface:
    """A client of one server over one transport and one store; leaving it closes the server."""

    def __init__(self, app: App, transport: str = "http", surfaces: Surfaces | None = None) -> None:
        assert isinstance(app.clock, ManualClock)
        self.app = app
        self.surfaces = surfaces or Surfaces(app)
        self.clock = app.clock
        self.transport = transport
        self.key: str | None = None
        self.workspace_id: WorkspaceId | None = None
        self._ids = iter(range(1, 1_000_000))

    @cached_property
    def wire(self) -> httpx.ASGITransport:
        """The server's HTTP side, built when a test first needs it."""
        return httpx.ASGITransport(app=self.surfaces.site(), client=("127.0.0.1", 50_000))

    @cached_property
    def http(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=self.wire, base_url=BASE_URL)

    @property
    def dialect(self) -> str:
        return self.app.store.dialect

    async def new_workspace(self, name: str = "acme", *, mode: KeyMode = "live", **options: Any) -> IssuedKey:
        return await make_workspace(self.app, name, mode=mode, **options)

    async def run_jobs(self) -> int:
        return await run_due_jobs(self.app)

    async def sign_in(self) -> IssuedKey:
        """Use a new workspace's key from here on."""
        issued = await self.new_workspace()
        self.key, self.workspace_id = issued.api_key, issued.workspace_id
        return issued

    async def send(
        self, message: Any, *, key: str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[dict[str, Any] | None, int | None, dict[str, str]]:
        """One raw JSON-RPC message; its answer (None for a notification), HTTP status and headers."""
        body = message if isinstance(message, bytes) else msgspec.json.encode(message)
        key = key if key is not None else self.key
        if self.transport == "http":
            sent = {"Content-Type": "application/json", **(headers or {})}
            if key is not None:
                sent["Authorization"] = f"Bearer {key}"
            response = await self.http.post("/api/mcp", content=body, headers=sent)
            answer = msgspec.json.decode(response.content) if response.content else None
            return answer, response.status_code, dict(response.headers)
        return await self._send_line(body, key), None, {}

    async def _send_line(self, line: bytes, key: str | None) -> dict[str, Any] | None:
        written: list[bytes] = []
        session = StdioSession(self.surfaces.messages, Credentials(api_key=key), written.append)

        async def lines() -> AsyncIterator[bytes]:
            yield line.replace(b"\n", b" ")

        await session.run(lines())
        assert len(written) <= 1
        answer: dict[str, Any] | None = msgspec.json.decode(written[0]) if written else None
        return answer

    async def rpc(self, method: str, params: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        """One legacy request; its whole answer."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        if params is not None:
            message["params"] = params
        answer, _, _ = await self.send(message, **options)
        assert answer is not None
        return answer

    async def call(self, tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> Outcome:
        """One tool call; a JSON-RPC error's data counts as its payload."""
        message = {
            "jsonrpc": "2.0",
            "id": next(self._ids),
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments or {}},
        }
        answer, status, headers = await self.send(message, **options)
        assert answer is not None
        if "error" in answer:
            return Outcome(answer["error"].get("data") or {}, True, answer, status, headers)
        result = answer["result"]
        payload: dict[str, Any] = dict(result["structuredContent"])
        replay = payload.pop("replay", None)
        _refuse_names_of_tools(payload)
        return Outcome(payload, result["isError"], answer, status, headers, replay)

    async def gather(self, calls: int, tool: str, arguments: dict[str, Any]) -> list[Outcome]:
        """The same call many times at once."""
        return list(await asyncio.gather(*(self.call(tool, arguments) for _ in range(calls))))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if "http" in self.__dict__:
            await self.http.aclose()
        await self.app.close()


ClientT = TypeVar("ClientT", bound=Surface)


@asynccontextmanager
async def signed_in(client: ClientT) -> AsyncIterator[ClientT]:
    """Sign a client in to a workspace of its own, and close its server at the end."""
    async with client:
        await client.sign_in()
        yield client


def settings_for(database_url: str, data_dir: Path, **changes: Any) -> Settings:
    """Settings of a test server."""
    given = {
        "data_dir": data_dir,
        "database_url": database_url,
        "base_url": BASE_URL,
        "run_token_secrets": (SECRET,),
        "secrets": (MASTER,),
        "rate_limit_per_minute": 100_000,
        "page_limit_per_minute": 100_000,
        "storage_quota_mb": 100_000,
        "undo_seconds": 0,
        "owner_workspaces": ("all",),  # each test has a workspace of its own
        **changes,
    }
    own = {name: given.pop(name) for name in given.keys() - set(Settings.__struct_fields__)}
    return Settings(**given, added=own)


TRANSPORTS = ("http", "stdio")
DATABASES = ("sqlite", "postgres")
SAMPLE = (("stdio", "sqlite"), ("http", "postgres"))
"""How it is run in life: a local user's process on a file, replicas on a database."""
ABOUT_THE_WIRE = "/contract/"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Choose the transports and databases that a test meets.

    Tests about the wire or the stores (the folder `contract`, the marker `every_surface`) meet every pair; others that
    need both meet a sample in which each transport and each database occurs.
    """
    named = {
        name.strip()
        for mark in metafunc.definition.iter_markers("parametrize")
        for name in (mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0])
    }
    needs_transport, needs_database = (
        name in metafunc.fixturenames and name not in named for name in ("transport", "database")
    )
    if needs_transport and needs_database:
        item = metafunc.definition
        in_full = ABOUT_THE_WIRE in item.nodeid or item.get_closest_marker("every_surface") is not None
        metafunc.parametrize(
            ("transport", "database"), [*product(TRANSPORTS, DATABASES)] if in_full else SAMPLE
        )
    elif needs_database:
        metafunc.parametrize("database", DATABASES)
    elif needs_transport:
        metafunc.parametrize("transport", TRANSPORTS)


@pytest.fixture
def database_url(request: pytest.FixtureRequest, database: str, tmp_path: Path) -> str:
    """A migrated database of each kind, for tests that sign in to a workspace of their own.

    The tests of a worker share one PostgreSQL database. A test that looks beyond its workspace carries the marker
    `own_database` and gets a fresh one; a folder of such tests overrides this fixture by `own_database_url`.
    """
    own = request.node.get_closest_marker("own_database") is not None
    if database == "sqlite":
        return new_sqlite(tmp_path / "assent.db")
    url: str = request.getfixturevalue("postgres_url" if own else "shared_postgres_url")
    return url


@pytest.fixture
def own_database_url(request: pytest.FixtureRequest, database: str, tmp_path: Path) -> str:
    """A fresh, migrated database of each kind."""
    if database == "sqlite":
        return new_sqlite(tmp_path / "assent.db")
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def changed_settings() -> dict[str, Any]:
    """Override in a module or by indirect parametrisation to start the server with other settings."""
    return {}


@pytest.fixture
async def surface(
    transport: str, database_url: str, tmp_path: Path, changed_settings: dict[str, Any]
) -> AsyncIterator[Surface]:
    """A running server over each transport and each store."""
    settings = settings_for(database_url, tmp_path, **changed_settings)
    app = App(settings, clock=ManualClock(), one_client=transport == "stdio")
    async with Surface(app, transport) as client:
        yield client


def asgi_post(path: str, *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    """The scope of a POST to this server from elsewhere, for tests that speak ASGI themselves."""
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1:8080"), *headers],
        "client": ("203.0.113.7", 1),
        "server": ("127.0.0.1", 8080),
    }
