"""Server processes behind a plain round robin, and clients that keep to their contract.

A connection goes to the next process that was ready a moment ago; no session sticks to one. Every request has a
connection of its own, so that two calls of a client hardly ever meet the same process.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import subprocess
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
from tests.support.actions.kit import APPROVE, EXECUTE
from tests.support.contract.talk import enveloped, modern_headers, tool_call
from tests.support.effort import rounds
from tests.support.processes.running import environment, free_port

ROOT = Path(__file__).parents[3]
STAGE = "testing_stage"
LOOK_SECONDS = 0.1
"""How often the proxy asks who is ready."""
DRAIN_SECONDS = rounds(1, 5)
"""More than the proxy needs to notice that a process is not ready: with many clients it shares its loop with them."""
CONNECTOR_SECONDS = rounds(3, 5)
LEASE_SECONDS = rounds(4, 20)
"""With 64 clients on two busy cores, a second can pass between a claim and its call; then nothing would be sent."""
PATIENCE_SECONDS = 60.0
PASSING = frozenset(
    {
        "temporarily_unavailable",
        "rate_limited",
        "execution_in_progress",
        "outcome_unknown",
        "connector_failed",
    }
)
"""Refusals after which a client repeats its call with the same key."""


class Replica:
    """One process, with a data directory of its own, as on a machine of its own."""

    def __init__(self, variables: dict[str, str], data_dir: Path) -> None:
        self.port = free_port()
        self.variables = {**variables, "ASSENT_PORT": str(self.port), "ASSENT_DATA_DIR": str(data_dir)}
        self.log = data_dir.with_suffix(".log")
        self.process: Process | None = None
        self.ready = False

    async def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.support.actions.server"),
                cwd=ROOT,
                env=environment(self.variables),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    async def end(self, number: signal.Signals) -> int:
        """Send a signal and wait for the end; its exit status."""
        if self.process is None:
            return 0
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.process.wait()

    @property
    def has_ended(self) -> bool:
        return self.process is not None and self.process.returncode is not None

    @property
    def resident_kb(self) -> int:
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


class Fleet:
    """The processes, and the proxy in front of them."""

    def __init__(self, database_url: str, folder: Path, count: int, **variables: str) -> None:
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        common = {
            "ASSENT_DATABASE_URL": database_url,
            "ASSENT_BASE_URL": self.url,
            "ASSENT_DRAIN_SECONDS": str(DRAIN_SECONDS),
            "ASSENT_RATE_LIMIT_PER_MINUTE": "1000000",
            "ASSENT_PAGE_LIMIT_PER_MINUTE": "1000000",
            "ASSENT_STORAGE_QUOTA_MB": "100000",
            "ASSENT_CONNECTOR_TIMEOUT_SECONDS": str(CONNECTOR_SECONDS),
            "ASSENT_EXECUTION_LEASE_SECONDS": str(LEASE_SECONDS),
            "ASSENT_LOG_LEVEL": "error",
            **variables,
        }
        self.replicas = [Replica(common, folder / f"replica-{number}") for number in range(count)]
        self._looked = asyncio.Event()
        self._open: set[asyncio.Task[Any]] = set()
        self._turns = itertools.count()
        self.served: Counter[int] = Counter()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Fleet]:
        try:
            for replica in self.replicas:
                await replica.start()
            async with await asyncio.start_server(self._take, "127.0.0.1", self.port):
                looking = asyncio.create_task(self._look())
                try:
                    await self.until_ready(*self.replicas)
                    yield self
                finally:
                    for task in (looking, *self._open):
                        task.cancel()
                    await asyncio.gather(looking, *self._open, return_exceptions=True)
        finally:
            for replica in self.replicas:
                await replica.end(signal.SIGKILL)

    async def until_ready(self, *replicas: Replica) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not all(replica.ready for replica in replicas):
                for each in replicas:
                    assert not each.has_ended, each.log.read_text()[-2_000:]
                await self._looked.wait()

    async def restart(self, replica: Replica, **variables: str) -> None:
        """Stop one process as a rolling restart does, and start it again."""
        assert await replica.end(signal.SIGTERM) == 0
        replica.ready = False
        replica.variables |= variables
        await replica.start()
        await self.until_ready(replica)

    async def kill(self, replica: Replica) -> None:
        await replica.end(signal.SIGKILL)
        replica.ready = False
        await replica.start()
        await self.until_ready(replica)

    async def _look(self) -> None:
        async with httpx.AsyncClient(timeout=2) as http:
            while True:
                await asyncio.gather(*(self._ask(http, each) for each in self.replicas))
                self._looked.set()
                self._looked = asyncio.Event()
                await asyncio.sleep(LOOK_SECONDS)

    async def _ask(self, http: httpx.AsyncClient, replica: Replica) -> None:
        try:
            replica.ready = (await http.get(f"http://127.0.0.1:{replica.port}/readyz")).status_code == 200
        except httpx.TransportError:
            replica.ready = False

    async def _take(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Pass one connection on to the next process that is ready; end it if there is none."""
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        ready = [each for each in self.replicas if each.ready]
        try:
            if ready:
                chosen = ready[next(self._turns) % len(ready)]
                self.served[chosen.port] += 1
                with contextlib.suppress(OSError):
                    await _join(reader, writer, chosen.port)
        finally:
            await _close(writer)


async def _join(reader: StreamReader, writer: StreamWriter, port: int) -> None:
    """Copy between a client and a process until both have ended."""
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
    finally:
        await _close(far_writer)


async def _close(writer: StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def _copy(reader: StreamReader, writer: StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()
    with contextlib.suppress(OSError):
        if writer.can_write_eof():
            writer.write_eof()
        else:
            writer.close()


class Callers:
    """Clients of a fleet that share an API key. They repeat a call with the same key, as their contract says."""

    def __init__(self, fleet: Fleet, api_key: str) -> None:
        self._http = httpx.AsyncClient(
            base_url=fleet.url,
            headers={"Authorization": f"Bearer {api_key}", "Connection": "close"},
            timeout=30,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            trust_env=False,
        )
        self.calls = 0
        self.answered = asyncio.Event()
        """Set by every answer that is no passing refusal."""
        self.repeated: Counter[str] = Counter()
        self.told: Counter[str] = Counter()
        """What passing refusals said."""
        self.sent: dict[str, str] = {}
        """The acknowledged executions, with their text."""

    async def close(self) -> None:
        await self._http.aclose()

    async def call(self, tool: str, number: int, **arguments: Any) -> dict[str, Any]:
        """One call in either era, repeated until it has an answer that is no passing refusal."""
        message, headers = tool_call(tool, arguments), {}
        if number % 2:
            message = enveloped("tools/call", {"name": tool, "arguments": arguments})
            headers = modern_headers(message)
        self.calls += 1
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                why = "connection"
                with contextlib.suppress(httpx.TransportError):
                    response = await self._http.post("/mcp", json=message, headers=headers)
                    body = msgspec.json.decode(response.content)
                    answer = body.get("result", {}).get("structuredContent") or body["error"]["data"]
                    if answer.get("reason") not in PASSING:
                        self.answered.set()
                        return dict(answer)
                    why = answer["reason"]
                    self.told[answer["userMessage"]] += 1
                self.repeated[why] += 1
                await asyncio.sleep(0.1)

    async def read(self, url: str) -> None:
        """Open a review page, which another process may have linked."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                with contextlib.suppress(httpx.TransportError):
                    self._http.cookies.clear()
                    page = await self._http.get(url, follow_redirects=True, headers={"Authorization": ""})
                    if page.status_code != 503:
                        assert page.status_code == 200, page.text[:300]
                        return
                self.repeated["page"] += 1
                await asyncio.sleep(0.1)

    async def loop(self, name: str, number: int) -> None:
        """Stage, approve and execute one action."""
        body = f"We shipped {name} today. Try it in the settings."
        run = await self.call(STAGE, number, body=body, idempotencyKey=f"stage {name}")
        assert run["ok"], run
        await self.read(run["reviewUrl"])
        action_id = run["actions"][0]["id"]
        for tool in (APPROVE, EXECUTE):
            answer = await self.call(tool, number, actionId=action_id, idempotencyKey=f"{tool} {name}")
            assert answer["ok"], answer
        self.sent[action_id] = body

    async def keep_calling(self, number: int, over: asyncio.Event, pause_seconds: float) -> None:
        for turn in itertools.count():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), pause_seconds)
            if over.is_set():
                return
            await self.loop(f"feature {number} {turn} {os.urandom(3).hex()}", number)
