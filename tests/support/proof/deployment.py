"""Real server processes on one store, clients over HTTP and stdio that go on living, and what is read at the end."""

from __future__ import annotations

import asyncio
import random
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
from proof.checker import Verdict
from tests.support.processes.running import UNLIMITED, Serve, StdioClient, free_port
from tests.support.proof.ground import judge_run
from tests.support.proof.parts import CONNECTORS, MASTER, SECRET, JumpingClock, app_for, asking
from tests.support.proof.recording import Client, MemoryRecorder
from tests.support.proof.worker import plan, read_evidence, run_jobs
from tests.support.proof.workload import FATES, WORKFLOW, Life, live, write_workflow
from tests.support.surfaces import issue_first_key

from assent.app import App
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.kernel.limits import DAY_MS, HOUR_MS
from assent_conform.testing.ledger import Ledger
from assent_launch.learning import measurement

COMMAND = (sys.executable, "-m", "tests.support.proof.server")
LEASE_SECONDS = 2
PATIENCE_SECONDS = 20.0
MEASURE_SECONDS = 60.0
SETTLE_ROUNDS = 12
FEW_ROUNDS = 2
"""After these only a person can tell what is still unknown."""
SETTLE_MS = 45_000


class Deployment:
    """Servers, their clients and their provider."""

    def __init__(self, database_url: str, folder: Path, provider: tuple[str, Path], seed: str) -> None:
        self.database_url = database_url
        self.folder = folder
        self.provider_url, self.ledger = provider
        self.before = self.ledger.stat().st_size
        self.chance = random.Random(seed)  # noqa: S311 - a choice of tests
        self.recorder = MemoryRecorder()
        self.clock = folder / "clock"
        self.moved_ms = 0
        self.move_clock(0)
        self.port = free_port()
        self.serving: Serve | None = None
        self.piping: StdioClient | None = None
        self._pipe = threading.Lock()
        self._numbers = iter(range(1_000_000))
        self.key = ""
        self.http = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}",
            timeout=PATIENCE_SECONDS,
            verify=False,  # noqa: S501
        )
        write_workflow(folder)

    @property
    def settings(self) -> dict[str, str]:
        return {
            **UNLIMITED,
            "ASSENT_DATABASE_URL": self.database_url,
            "RUN_TOKEN_SECRET": SECRET,
            "ASSENT_SECRET": MASTER,
            "ASSENT_CONNECTOR_TIMEOUT_SECONDS": "1",
            "ASSENT_EXECUTION_LEASE_SECONDS": str(LEASE_SECONDS),
            "ASSENT_LOG_LEVEL": "error",
            "PROOF_PROVIDER": self.provider_url,
            "PROOF_CLOCK": str(self.clock),
        }

    def move_clock(self, by_ms: int) -> None:
        """Set the servers' clock forward or back."""
        self.moved_ms += by_ms
        new = self.clock.with_suffix(".new")
        new.write_text(str(self.moved_ms))
        new.replace(self.clock)

    async def open(self, *, stdio: bool) -> None:
        app = app_for(self.database_url, self.folder, self.provider_url, JumpingClock(self.clock))
        self.key = await issue_first_key(app)
        await self.serve()
        if stdio:
            await asyncio.to_thread(self.pipe)

    async def serve(self) -> None:
        """Start `assent serve`; always on the same port, where the clients look for it."""
        self.serving = await asyncio.to_thread(
            lambda: Serve(self.folder, self.settings, port=self.port, command=COMMAND)
        )

    def pipe(self) -> None:
        self.piping = StdioClient(
            self.folder, {**self.settings, "ASSENT_PORT": str(self.port)}, command=COMMAND
        )
        self.piping.ask("initialize")

    async def kill(self) -> None:
        """kill -9 to the server."""
        assert self.serving is not None
        await asyncio.to_thread(self.serving.kill)

    def client(self) -> Client:
        """A new client: over MCP or REST, or over stdio where a process is there for it."""
        number = next(self._numbers)
        if self.piping is not None and number % 4 == 3:
            return Client(f"stdio {number}", self.recorder, self._ask_by_stdio, "local")
        return Client(
            f"http {number}", self.recorder, self._ask_by_mcp if number % 2 else self._ask_by_rest, "key"
        )

    async def _ask_by_rest(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        headers = {"Authorization": f"Bearer {self.key}"}
        try:
            response = await self.http.post(f"/api/tools/{tool}", json=arguments, headers=headers)
            return dict(response.json())
        except (httpx.HTTPError, ValueError):
            return None

    async def _ask_by_mcp(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        headers = {"Authorization": f"Bearer {self.key}"}
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        try:
            answer = (await self.http.post("/api/mcp", json=message, headers=headers)).json()
        except (httpx.HTTPError, ValueError):
            return None
        found = answer["error"].get("data") if "error" in answer else answer["result"]["structuredContent"]
        return dict(found or {})

    async def _ask_by_stdio(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        def ask() -> dict[str, Any] | None:
            with self._pipe:
                try:
                    return self.piping.call(tool, **arguments) if self.piping is not None else None
                except (AssertionError, OSError):
                    return None

        return await asyncio.to_thread(ask)

    async def load(self, stop: asyncio.Event, callers: int) -> None:
        """Callers that live one life after another, and repeat those that were cut short, until told to stop."""
        await asyncio.gather(*(self._live_on(stop) for _ in range(callers)))

    async def _live_on(self, stop: asyncio.Event) -> None:
        client, cut_short = self.client(), list[Life]()
        while not stop.is_set():
            if cut_short:
                life = cut_short.pop()
            else:
                name = f"{client.name}.{next(self._numbers)}"
                fate = WORKFLOW if self.chance.random() < 0.1 else self.chance.choice(FATES)
                life = Life(name, self.chance.choice(CONNECTORS), fate)
            calls = len(self.recorder.calls)
            await live(client, life)
            if any(call.answer is None for call in self.recorder.calls[calls:] if call.client == client.name):
                cut_short.append(life)
                await asyncio.sleep(0.05)
        for life in cut_short:
            await live(client, life)

    async def wait_for_successes(self, count: int) -> None:
        """Until clients had so many more successes: a fault that strikes where nothing works proves nothing."""
        seen, found = len(self.recorder.calls), 0
        async with asyncio.timeout(60):
            while found < count:
                await asyncio.sleep(0.02)
                found = sum(call.ok for call in self.recorder.calls[seen:])

    async def settle(self) -> dict[str, Any]:
        """Let leases end and jobs run until no attempt is in flight; then read everything."""
        await plan(self.provider_url, ["deliver"])
        app = app_for(self.database_url, self.folder, self.provider_url, JumpingClock(self.clock))
        reader = Client("reader", self.recorder, asking(app))
        try:
            for number in range(SETTLE_ROUNDS):
                self.move_clock(SETTLE_MS)
                await asyncio.sleep(1)
                read = await read_evidence(app, reader, Ledger(self.ledger))
                states = {each["executionState"] for each in read["records"].values()}
                if "executing" not in states and ("outcome_unknown" not in states or number >= FEW_ROUNDS):
                    break
            # What was sent is measured a day later; here beside the server, which looks for the same jobs.
            self.move_clock(DAY_MS + HOUR_MS)
            async with asyncio.timeout(MEASURE_SECONDS):
                while await self._has_unmeasured(app):
                    await run_jobs(app)
            return await read_evidence(app, reader, Ledger(self.ledger))
        finally:
            await app.close()

    async def _has_unmeasured(self, app: App) -> bool:
        """Whether a measurement is due. One of a run that was sent before the clock was set back may be due later."""
        first = await app.store.read(lambda: measurement.due(LOCAL_WORKSPACE, most=1))
        return bool(first) and first[0].due_ms <= app.clock.now_ms()

    async def close(self) -> None:
        await self.http.aclose()
        if self.serving is not None:
            await asyncio.to_thread(self.serving.__exit__)
        if self.piping is not None:
            await asyncio.to_thread(self.piping.__exit__)

    def judge(self, read: dict[str, Any]) -> Verdict:
        return judge_run(self.recorder.calls, read, self.ledger, self.before, measured=True)
