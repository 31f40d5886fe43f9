"""The gate in real processes over real transports: killed in the middle, and asked by sixty-four at once."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.effort import PROVE, rounds
from tests.engine.actions.kit import APPROVE, EXECUTE, GET
from tests.interop.running import environment, free_port
from tests.reliability import Prove
from tests.surfaces import MASTER, SECRET, settings_for

from assent.app import App
from assent.engine.core import tenancy
from assent.engine.core.tenancy import KEY_ID_BYTES, LOCAL_WORKSPACE, SECRET_BYTES, KeyEntropy
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.standalone import provider_process

pytestmark = [
    pytest.mark.prove,
    pytest.mark.own_database,
    pytest.mark.slow,
    pytest.mark.rule("E29", "E72", "E61"),
]

ROOT = Path(__file__).parents[3]
DEADLINE_SECONDS = 60.0
STAGE = "testing_stage"


class Gone(Exception):  # noqa: N818 - what became of the server
    """The server went away before it answered."""


class GoneAtStart(Gone):
    """The server was killed over what the one before it had left, before it could be asked anything."""


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Ledger]]:
    path = tmp_path_factory.mktemp("provider") / "ledger.jsonl"
    with provider_process("assent_conform.testing.connector", path) as url:
        yield url, Ledger(path)


@dataclass
class House:
    """Server processes on one store."""

    database_url: str
    data_dir: Path
    provider_url: str
    delivery: str = "native_key"
    key: str = ""
    ids: Iterator[int] = field(default_factory=itertools.count)

    def variables(self, **more: str) -> dict[str, str]:
        return environment(
            ASSENT_DATA_DIR=str(self.data_dir),
            ASSENT_DATABASE_URL=self.database_url,
            RUN_TOKEN_SECRET=SECRET,
            ASSENT_SECRET=MASTER,
            ASSENT_RATE_LIMIT_PER_MINUTE="100000",
            ASSENT_CONNECTOR_TIMEOUT_SECONDS="1",
            ASSENT_EXECUTION_LEASE_SECONDS="2",
            ASSENT_LOG_LEVEL="error",
            GATE_PROVIDER=self.provider_url,
            GATE_DELIVERY=self.delivery,
            **more,
        )

    async def issue_key(self) -> None:
        """A key of the local workspace, which a stdio process is in without one."""
        app = App(settings_for(self.database_url, self.data_dir))
        entropy = KeyEntropy(os.urandom(KEY_ID_BYTES), os.urandom(SECRET_BYTES))
        try:
            await app.prepare()
            issued = await app.store.write(
                lambda: tenancy.issue_key(LOCAL_WORKSPACE, entropy, app.clock.now_ms(), by="test")
            )
            self.key = issued.api_key
        finally:
            await app.close()

    @asynccontextmanager
    async def started(self, transport: str, dies_at: str = "") -> AsyncIterator[Client]:
        """A server of this house and a client of it; killed at the end, if it lives."""
        port = free_port()
        # A stdio process may serve the pages; none of these does on another's port.
        more = {"ASSENT_PORT": str(port), "GATE_DIES_AT": dies_at}
        command = [
            sys.executable,
            "-m",
            "tests.engine.actions.server",
            "serve" if transport == "http" else "stdio",
        ]
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=ROOT,
            env=self.variables(**more),
            stdin=PIPE,
            stdout=PIPE,
            stderr=subprocess.DEVNULL,
            limit=2**24,
        )
        client: Client = (
            OverHttp(process, f"http://127.0.0.1:{port}", self.key, self.ids)
            if transport == "http"
            else OverStdio(process, self.ids)
        )
        try:
            await client.open()
            yield client
        finally:
            await client.close()
            if process.returncode is None:
                process.kill()
            await process.wait()


class Client:
    """One way to talk to a server process."""

    def __init__(self, process: Process, ids: Iterator[int]) -> None:
        self.process = process
        self._ids = ids

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers, a refusal included. Raises `Gone`."""
        message = {
            "jsonrpc": "2.0",
            "id": next(self._ids),
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        async with asyncio.timeout(DEADLINE_SECONDS):
            answer = await self.exchange(message)
        payload: dict[str, Any] = answer["result"]["structuredContent"]
        return payload

    async def killed(self) -> int:
        async with asyncio.timeout(DEADLINE_SECONDS):
            return await self.process.wait()


class OverHttp(Client):
    def __init__(self, process: Process, url: str, key: str, ids: Iterator[int]) -> None:
        super().__init__(process, ids)
        self._http = httpx.AsyncClient(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=DEADLINE_SECONDS,
            limits=httpx.Limits(max_connections=100),
        )

    async def open(self) -> None:
        async with asyncio.timeout(DEADLINE_SECONDS):
            while self.process.returncode is None:
                try:
                    if (await self._http.get("/readyz")).status_code == 200:
                        return
                except httpx.TransportError:
                    await _moment(self.process)
        raise GoneAtStart

    async def close(self) -> None:
        await self._http.aclose()

    async def exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            response = await self._http.post("/mcp", json=message)
        except httpx.TransportError as error:
            raise Gone from error
        answer: dict[str, Any] = response.json()
        return answer


async def _moment(process: Process) -> None:
    """A while, or until the process ends."""
    try:
        await asyncio.wait_for(process.wait(), 0.05)
    except TimeoutError:
        return


class OverStdio(Client):
    """Answers come back in any order and find their question by its id."""

    def __init__(self, process: Process, ids: Iterator[int]) -> None:
        super().__init__(process, ids)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._reader = asyncio.create_task(self._read())

    async def close(self) -> None:
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)

    async def exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        future = self._waiting[message["id"]] = asyncio.get_running_loop().create_future()
        try:
            self.process.stdin.write(msgspec.json.encode(message) + b"\n")
            await self.process.stdin.drain()
        except ConnectionError as error:
            raise Gone from error
        answer: dict[str, Any] = await future
        return answer

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            answer = msgspec.json.decode(line)
            self._waiting.pop(answer["id"]).set_result(answer)
        for future in self._waiting.values():
            future.set_exception(Gone())


async def walked(client: Client, name: str) -> str:
    """Stage, approve and execute with the keys of `name`; the action's id."""
    run = await client.call(
        STAGE, body=f"We shipped {name} today. Try it in the settings.", idempotencyKey=name
    )
    action_id: str = run["actions"][0]["id"]
    await client.call(APPROVE, actionId=action_id, idempotencyKey=name)
    await client.call(EXECUTE, actionId=action_id, idempotencyKey=name)
    return action_id


async def ended(client: Client, action_id: str, name: str) -> dict[str, Any]:
    """Repeat the execute with its key, as a client does, until it has its answer."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            answer = await client.call(EXECUTE, actionId=action_id, idempotencyKey=name)
            if answer["ok"]:
                return answer
            assert answer["reason"] in ("execution_in_progress", "outcome_unknown", "connector_failed"), (
                answer
            )
            await _moment(client.process)


EVERY_PLACE = (
    "approve.committed",
    "execute.claimed",
    "execute.calling",
    "execute.performed",
    "execute.recorded",
)
PLACES = EVERY_PLACE if PROVE else ("execute.claimed", "execute.performed")
"""`tests/proof/test_kills.py` kills at each of them in any run."""


@pytest.mark.parametrize(("transport", "database"), [("stdio", "sqlite"), ("http", "postgres")])
async def test_a_server_killed_in_the_middle_goes_on_after_its_restart_with_one_effect(
    transport: str, database_url: str, tmp_path: Path, provider: tuple[str, Ledger]
) -> None:
    house = House(database_url, tmp_path, provider[0])
    await house.issue_key()
    ledger = provider[1]
    interrupted: list[str] = []
    for place in PLACES:
        name = f"{place} over {transport} on {tmp_path.name}"
        while name not in interrupted:
            with contextlib.suppress(GoneAtStart):
                async with house.started(transport, place) as client:
                    with pytest.raises(Gone):
                        await walked(client, name)
                    assert await client.killed() == -signal.SIGKILL
                interrupted.append(name)
    # One restart looks after all of them.
    async with house.started(transport) as client:
        for name in interrupted:
            action_id = await walked(client, name)
            answer = await ended(client, action_id, name)
            assert answer == await client.call(EXECUTE, actionId=action_id, idempotencyKey=name)
            [effect] = ledger.effects(f"{action_id}:1")
            assert effect.effect_id == answer["externalId"]
            assert (await client.call(GET, actionId=action_id))["status"] == "executed"


TURNS = rounds(2, 40)
HEARD = {None, "execution_in_progress", "requires_approval"}


async def test_sixty_four_clients_of_three_processes_are_one_effect(
    database_url: str, tmp_path: Path, provider: tuple[str, Ledger], prove: Prove
) -> None:
    house = House(database_url, tmp_path, provider[0], delivery="none")
    await house.issue_key()
    ledger = provider[1]
    heard: Counter[str | None] = Counter()
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(house.started(transport))
            for transport in ("http", "http", "stdio")
        ]
        for turn in range(TURNS):
            name = f"turn {turn} on {tmp_path.name}"
            keys = (name, name, f"{name}, without an API key")  # an answer belongs to the API key that got it
            run = await servers[0].call(STAGE, body=f"We shipped {name} today.", idempotencyKey=name)
            action_id = run["actions"][0]["id"]
            await servers[turn % 3].call(APPROVE, actionId=action_id)
            calls = [
                servers[number % 3].call(
                    EXECUTE,
                    actionId=action_id,
                    **(
                        {"idempotencyKey": keys[number % 3] if number % 4 < 2 else f"{number} {name}"}
                        if number % 4
                        else {}
                    ),
                )
                for number in range(64)
            ]
            answers = await asyncio.gather(*calls)
            heard += Counter(answer.get("reason") for answer in answers)
            assert len(ledger.effects(f"{action_id}:1")) == 1
            assert len(ledger.calls(f"{action_id}:1")) == 1
            done = [answer for answer in answers if answer["ok"]]
            # A replay says that it is one, and is the same answer otherwise.
            told = [{name: answer[name] for name in answer if name != "replay"} for answer in done]
            assert all(each == told[0] for each in told)
            for answer in answers:
                assert answer.get("reason") in HEARD, answer
                if answer.get("reason") == "requires_approval":
                    assert (answer["status"], bool(answer["externalId"])) == ("executed", True)
    assert heard[None] >= TURNS
    assert heard.total() == TURNS * 64
    name = "executes at once by three processes over HTTP and stdio"
    prove.row(name, "double executes", heard.total(), calls=heard.total(), actions=TURNS, effects=TURNS)
