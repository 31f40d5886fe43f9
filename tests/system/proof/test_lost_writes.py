"""An asynchronous failover that loses executions: what was sent is never sent again, in a server that goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from proof.promises import APPROVE, EXECUTE, STAGE
from tests.support.effort import rounds
from tests.support.postgres_server import MISSING, binaries
from tests.support.processes.replication import replicated
from tests.support.proof.parts import CONNECTORS, app_for, asking

from assent.engine.recovery import positions
from assent.processes.system_clock import SystemClock
from assent_conform.testing.connector import Emulator
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.standalone import provider_process

pytestmark = [pytest.mark.prove, pytest.mark.slow, pytest.mark.skipif(binaries() is None, reason=MISSING)]

TURNS = rounds(1, 4)
"""Failovers, each of a pair of its own."""


async def test_what_a_lost_write_had_sent_is_not_sent_again(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    for turn in range(TURNS):
        await lose_writes(tmp_path, turn)
    record_property("failovers", TURNS)


async def lose_writes(folder: Path, turn: int) -> None:
    ledger = Ledger(folder / f"ledger-{turn}.jsonl")
    with (
        replicated(synchronous=False) as pair,
        provider_process(Emulator, ledger.path) as provider,
    ):
        app = app_for(pair.url, folder / f"data-{turn}", provider, SystemClock())
        ask = asking(app)
        try:
            await app.prepare()
            staged = {name: await stage(ask, name) for name in CONNECTORS}
            waiting = await stage(ask, "hook", "late")
            for action_id in staged.values():
                assert (await answer(ask, APPROVE, actionId=action_id))["ok"]
            await asyncio.to_thread(pair.catch_up)
            await asyncio.to_thread(pair.detach)
            assert (await answer(ask, APPROVE, actionId=waiting))["ok"]
            for action_id in (*staged.values(), waiting):
                assert (await answer(ask, EXECUTE, actionId=action_id, idempotencyKey=action_id))["ok"]
            sent = ledger.effects()
            assert len(sent) == len(CONNECTORS) + 1
            await asyncio.to_thread(pair.fail_over)
            for action_id in (*staged.values(), waiting):
                await answer(ask, APPROVE, actionId=action_id)
                await answer(ask, EXECUTE, actionId=action_id, idempotencyKey=action_id)
                await answer(ask, EXECUTE, actionId=action_id)
            assert sorted(each.reference or "" for each in ledger.effects()) == sorted(
                each.reference or "" for each in sent
            )
            assert await app.store.read(positions.list_restores), "the failover was not noticed"
        finally:
            await app.close()


async def stage(ask: Any, connector: str, name: str = "") -> str:
    body = f"We shipped {connector}{name} today. Try it in the settings."
    run = await answer(
        ask, STAGE, body=body, connector=connector, channel="linkedin", idempotencyKey=f"{connector}{name}"
    )
    assert run["ok"], run
    return str(run["actions"][0]["id"])


async def answer(ask: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    """One call, repeated while the database is away."""
    async with asyncio.timeout(30):
        while True:
            said: dict[str, Any] = await ask(tool, arguments)
            if said.get("reason") != "temporarily_unavailable":
                return said
            await asyncio.sleep(0.05)
