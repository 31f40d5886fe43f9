"""Executes of one action at once, by two servers or processes on one store: one effect, and answers that are true."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from proof.promises import APPROVE, EXECUTE, STAGE
from tests.support.effort import rounds, share
from tests.support.jobs.kit import Clock
from tests.support.proof.deployment import Deployment
from tests.support.proof.ground import START_MS, judge_run
from tests.support.proof.parts import CONNECTORS, app_for, asking
from tests.support.proof.recording import Client, MemoryRecorder
from tests.support.proof.worker import read_evidence
from tests.support.reliability import Prove

from assent_conform.testing.ledger import Ledger

pytestmark = [pytest.mark.slow, pytest.mark.prove, pytest.mark.rule("E29", "E72", "E49")]

ACTIONS = rounds(2, 40)
EXECUTES = rounds(64, 250)
RUNS = [("sqlite", run) for run in range(share(1, 16))] + [("postgres", run) for run in range(share(1, 5))]
HEARD = {None, "execution_in_progress", "requires_approval"}
"""Success, and what a caller hears while another's call is in flight or when it is over."""


@pytest.mark.parametrize(("database", "run"), RUNS)
async def test_executes_at_once_are_one_effect(
    own_database_url: str, tmp_path: Path, provider: tuple[str, Path], prove: Prove, database: str, run: int
) -> None:
    url, path = provider
    before = path.stat().st_size
    recorder = MemoryRecorder()
    apps = [app_for(own_database_url, tmp_path, url, Clock(START_MS)) for _ in range(2)]
    try:
        for app in apps:
            await app.prepare()
        clients = [Client(f"client {n}", recorder, asking(app)) for n, app in enumerate(apps)]
        for number in range(ACTIONS):
            await execute_at_once(clients, f"{run}.{number}", CONNECTORS[number % len(CONNECTORS)])
        read = await read_evidence(apps[0], clients[0], Ledger(path))
    finally:
        for app in apps:
            await app.close()
    verdict = judge_run(recorder.calls, read, path, before)
    executes = [call for call in recorder.calls if call.tool == EXECUTE]
    prove.row(f"executes of one action at once, {database}", "double executes", len(executes), verdict)
    assert verdict.clean, verdict.describe()
    assert {call.reason for call in executes} <= HEARD
    assert verdict.effects == verdict.actions == ACTIONS
    assert sum(call.ok for call in executes) >= ACTIONS


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_executes_at_once_by_two_processes_are_one_effect(
    own_database_url: str, tmp_path: Path, provider: tuple[str, Path], prove: Prove, database: str
) -> None:
    """`assent serve` by MCP and REST, and `assent stdio` beside it."""
    deployment = Deployment(own_database_url, tmp_path, provider, database)
    try:
        await deployment.open(stdio=True)
        clients = [deployment.client() for _ in range(4)]
        for number in range(ACTIONS):
            await execute_at_once(clients, f"{number} by processes", CONNECTORS[number % len(CONNECTORS)])
        heard = [call.reason for call in deployment.recorder.calls if call.tool == EXECUTE]
        read = await deployment.settle()
    finally:
        await deployment.close()
    verdict = deployment.judge(read)
    prove.row(f"executes at once by two processes, {database}", "double executes", len(heard), verdict)
    assert verdict.clean, verdict.describe()
    assert set(heard) <= HEARD
    assert verdict.effects == verdict.actions == ACTIONS


async def execute_at_once(clients: list[Client], name: str, connector: str) -> None:
    """With one key for each holder, with keys of their own, and with none."""
    first, second = clients[:2]
    wanted = {"body": f"We shipped {name} today.", "connector": connector, "channel": "linkedin"}
    run = await first.call(STAGE, **wanted)
    assert run is not None
    action_id = run["actions"][0]["id"]
    await second.call(APPROVE, actionId=action_id)
    calls = []
    for number in range(EXECUTES):
        client = clients[number % len(clients)]
        keys = (f"shared by {client.holder} {name}", f"{number} {name}", None)
        key = keys[number % len(keys)]
        calls.append(
            client.call(EXECUTE, actionId=action_id, **({"idempotencyKey": key} if key is not None else {}))
        )
    await asyncio.gather(*calls)
