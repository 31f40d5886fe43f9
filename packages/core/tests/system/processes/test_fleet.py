"""Several processes on a replicated PostgreSQL behind a round robin: restarted, given new secrets, killed, failed over.

A call that fails is repeated as a client's contract says; a planned restart lets no call fail at all.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from statistics import median

import pytest
from tests.support.actions.kit import GET
from tests.support.effort import PROVE, rounds
from tests.support.postgres_server import MISSING, binaries
from tests.support.processes.fleet import Callers, Fleet
from tests.support.processes.replication import replicated
from tests.support.reliability import Prove
from tests.support.surfaces import issue_first_key, settings_for

from assent.app import App
from assent_conform.testing.connector import Emulator
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.standalone import provider_process

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore::pytest.PytestUnraisableExceptionWarning"
    ),  # connections of killed processes
    pytest.mark.prove,
    pytest.mark.slow,
    pytest.mark.skipif(binaries() is None, reason=MISSING),
]

PROCESSES = rounds(2, 4)
CLIENTS = rounds(4, 64)
KILLS = rounds(1, 2)
PHASE_SECONDS = rounds(1, 60)
WATCH_SECONDS = rounds(1, 120)
"""The least for which the memory is watched at the end."""
LOAD_SECONDS = rounds(1, 300)
"""The least that all of it takes."""
PAUSE_SECONDS = 0.001 if PROVE else 0.5
"""Between two actions of a client."""
RECONNECT_SECONDS = 5.0
SAMPLES = 5
"""Looks at the memory in a quarter of that time."""
GROWTH_KB = rounds(24_000, 8_000)
"""More than a process may grow between the second and the last quarter of the time in which it is watched."""
OLD = {
    "RUN_TOKEN_SECRET": "first-run-token-secret-of-a-test",
    "ASSENT_SECRET": "first-master-secret-of-a-test-only",
}
NEW = {
    "RUN_TOKEN_SECRET": "second-run-token-secret-of-a-test",
    "ASSENT_SECRET": "second-master-secret-of-a-test-only",
}


def with_secrets(signing: dict[str, str], accepted: dict[str, str]) -> dict[str, str]:
    return {**signing, **{f"{name}_PREVIOUS": value for name, value in accepted.items()}}


async def test_a_fleet_is_restarted_rekeyed_killed_and_failed_over_under_load(
    tmp_path: Path, prove: Prove
) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with (
        replicated(synchronous=True) as pair,
        provider_process(Emulator, ledger.path) as provider,
    ):
        api_key = await issue_key(pair.url, tmp_path / "keys")
        settings = {"GATE_PROVIDER": provider, "GATE_DELIVERY": "native_key", **OLD}
        fleet = Fleet(pair.url, tmp_path, PROCESSES, **settings)
        async with fleet.running():
            callers, begun = Callers(fleet, api_key), time.monotonic()
            over = asyncio.Event()
            calling = [
                asyncio.create_task(callers.keep_calling(number, over, PAUSE_SECONDS))
                for number in range(CLIENTS)
            ]
            try:
                await pause(calling, PHASE_SECONDS)
                # Each process gets the new secrets as accepted ones first, and signs with them when all do.
                for step in (with_secrets(OLD, NEW), with_secrets(NEW, OLD)):
                    for replica in fleet.replicas:
                        await fleet.restart(replica, **step)
                assert not callers.repeated, f"a planned restart let a call fail: {callers.told}"
                for replica in fleet.replicas[:KILLS]:
                    await fleet.kill(replica)
                before = len(callers.sent)
                await asyncio.to_thread(pair.fail_over)
                since = time.monotonic()
                callers.answered.clear()
                await asyncio.wait_for(callers.answered.wait(), 60)
                reconnected = time.monotonic() - since
                await until_sent(callers, before + CLIENTS, calling)
                left = LOAD_SECONDS - (time.monotonic() - begun)
                memory = await watch(fleet, calling, max(WATCH_SECONDS, left))
                loaded = time.monotonic() - begun
            finally:
                over.set()
                await asyncio.gather(*calling)
            assert reconnected < RECONNECT_SECONDS
            assert max(after - before for before, after in memory) < GROWTH_KB, memory
            assert len(fleet.served) == PROCESSES
            effects = {effect.reference: effect for effect in ledger.effects()}
            assert len(effects) == len(ledger.effects()), "an action was sent twice"
            for number, (action_id, body) in enumerate(callers.sent.items()):
                found = [
                    each for name, each in effects.items() if name is not None and name.startswith(action_id)
                ]
                assert len(found) == 1, f"{action_id} has {len(found)} effects"
                if PROVE or number % 10 == 0:
                    told = await callers.call(GET, number, actionId=action_id)
                    assert told["status"] == "executed", told
                assert body
            await callers.close()
    name = f"{PROCESSES} processes, {CLIENTS} clients, rolling restarts, {KILLS} kills, a failover"
    notes = {
        "under load": f"{loaded:.0f} seconds, {callers.calls / loaded:.0f} calls a second",
        "first answer after the failover": f"{reconnected:.2f} seconds",
        "failed calls after two rolling restarts": "0",
        "repeated until they succeeded": ", ".join(f"{why} {n:,}" for why, n in callers.repeated.items())
        or "0",
        "memory of each process, MB": ", ".join(f"{a / 1024:.1f} → {b / 1024:.1f}" for a, b in memory),
    }
    prove.row(
        name,
        "failovers",
        1,
        notes=notes,
        calls=callers.calls,
        actions=len(callers.sent),
        effects=len(effects),
    )
    prove.row(name, "kills", KILLS)


async def issue_key(database_url: str, data_dir: Path) -> str:
    """A key of the local workspace."""
    run_token, master = OLD.values()
    app = App(settings_for(database_url, data_dir, run_token_secrets=(run_token,), secrets=(master,)))
    return await issue_first_key(app)


async def pause(calling: list[asyncio.Task[None]], seconds: float) -> None:
    """Let the clients go on; one that fails ends it."""
    done, _ = await asyncio.wait(calling, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


async def watch(fleet: Fleet, calling: list[asyncio.Task[None]], seconds: float) -> list[tuple[float, float]]:
    """Let the clients go on; the memory of each process in the second and in the last quarter of that time, in KB."""
    seen: list[list[int]] = [[] for _ in fleet.replicas]
    for _ in range(4 * SAMPLES):
        await pause(calling, seconds / (4 * SAMPLES))
        for of_replica, replica in zip(seen, fleet.replicas, strict=True):
            of_replica.append(replica.resident_kb)
    return [(median(each[SAMPLES : 2 * SAMPLES]), median(each[-SAMPLES:])) for each in seen]


async def until_sent(callers: Callers, count: int, calling: list[asyncio.Task[None]]) -> None:
    deadline = time.monotonic() + 60
    while len(callers.sent) < count:
        assert time.monotonic() < deadline, "the clients do not go on"
        await asyncio.wait(calling, timeout=0.05, return_when=asyncio.FIRST_COMPLETED)
