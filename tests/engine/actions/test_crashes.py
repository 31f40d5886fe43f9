"""kill -9 at every named place, on both stores: nothing is lost, nothing happens twice, all has a next step.

The provider is a process of its own with a ledger that no kill reaches; it is the judge.
"""

from __future__ import annotations

import asyncio
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from tests.engine.actions.child import (
    LEASE_SECONDS,
    Clock,
    Task,
    app_for,
    approved,
    executed,
    jobs_run,
    staged,
)
from tests.surfaces import MASTER, SECRET, START_MS

from assent.app import App
from assent.engine.actions import actions, reconciliation
from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Signer
from assent.engine.core import failpoints
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.records import Action
from assent.kernel.ids import ActionId
from assent.testing.connector import DELIVERIES
from assent.testing.ledger import Ledger
from assent.testing.provider_server import Outcome
from assent.testing.standalone import provider_process

pytestmark = [pytest.mark.own_database, pytest.mark.slow, pytest.mark.rule("E29", "E61", "E72")]

ROOT = Path(__file__).parents[3]
DEADLINE_SECONDS = 60.0
KINDS = tuple(delivery.kind for delivery in DELIVERIES)
ONCE = ("prepare.committed", "approve.committed")
"""Places that no connector has to do with."""
LOOKING = ("reconcile.admitted", "reconcile.looked", "reconcile.recorded")
MATRIX = [(name, kind) for name in failpoints.NAMES for kind in (KINDS[:1] if name in ONCE else KINDS)]
NEVER = {("reconcile.recorded", "none")}
"""Where nobody comes by: what only a human can say is not recorded by a job."""


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Ledger]]:
    """A provider that outlives everybody."""
    path = tmp_path_factory.mktemp("provider") / "ledger.jsonl"
    with provider_process("assent.testing.emulator", path) as url:
        yield url, Ledger(path)


@pytest.fixture
def task(database_url: str, tmp_path: Path, provider: tuple[str, Ledger]) -> Task:
    return Task(
        database_url=database_url,
        data_dir=str(tmp_path),
        provider_url=provider[0],
        now_ms=START_MS,
        secret=SECRET,
        master=MASTER,
    )


class Workers:
    """The other end of `tests.engine.actions.child`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def start(self, task: Task) -> int:
        """A worker on a task; its process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(task) + b"\n")
        self._process.stdin.flush()
        return self._number()

    def ended(self) -> int:
        """How the last one ended: 0, or minus the signal that ended it."""
        return self._number()

    def _number(self) -> int:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], DEADLINE_SECONDS)
        assert ready, "no word from the workers"
        return int(self._process.stdout.readline())


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    command = [sys.executable, "-m", "tests.engine.actions.child"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        try:
            yield Workers(process)
        finally:
            process.kill()


def plan(url: str, *outcomes: Outcome) -> None:
    """What the provider does to the next calls."""
    # Plain HTTP: to read the certificates of the system would take ten times as long as the call.
    httpx.post(f"{url}/plan", json={"outcomes": outcomes}, verify=False).raise_for_status()  # noqa: S501


def state_of(action: Action) -> str:
    beside = action.execution_state.value
    return action.status.value if beside in ("none", "done") else beside


class Survivors:
    """Whoever comes after the crash: the same store, the same provider, another process's memory."""

    def __init__(self, app: App, clock: Clock, ledger: Ledger) -> None:
        self.app = app
        self.clock = clock
        self.ledger = ledger

    async def all(self) -> list[Action]:
        return list(await self.app.store.read(lambda: actions.trail(LOCAL_WORKSPACE, None, "", 1_000)))

    async def find(self, action_id: ActionId) -> Action:
        action, _ = await self.app.store.read(lambda: actions.find(LOCAL_WORKSPACE, action_id))
        return action

    def effects(self, action: Action) -> int:
        return len(self.ledger.effects(action.provider_key))

    async def carry_on(self, number: int) -> None:
        """Repeat what the dead process did, with its keys, until the action has ended; look at the ledger all along."""
        action_id = await staged(self.app, number)
        action = await self.find(action_id)
        if state_of(action) == "awaiting_approval":
            assert self.effects(action) == 0
        assert await approved_or_later(self.app, action_id, number)
        assert self.effects(action) <= 1
        heard = await executed(self.app, action_id, number)
        assert heard in ("executed", "execution_in_progress", "outcome_unknown")
        assert self.effects(action) <= 1
        self.clock.at_ms += LEASE_SECONDS * 1000 + 31_000  # also past the lease of a job that died
        await jobs_run(self.app)
        assert self.effects(action) <= 1
        state = state_of(await self.find(action_id))
        assert state in ("executed", "outcome_unknown", "retryable"), "a state without a next step"
        if state == "outcome_unknown":
            happened = bool(self.effects(action))
            facts = {"by": "Ada", "assurance": "person", "via": "page", "evidence": "https://p.example/1"}
            now_ms = self.clock.now_ms()
            await self.app.store.write(
                lambda: reconciliation.resolve(LOCAL_WORKSPACE, action_id, happened, facts, now_ms)
            )
        answer = await executed(self.app, action_id, number)
        assert answer in ("executed", "requires_approval")
        assert state_of(await self.find(action_id)) == "executed"
        assert self.effects(action) == 1


async def approved_or_later(app: App, action_id: ActionId, number: int) -> bool:
    """Approving again with the same key is answered, whatever has become of the action."""
    return await approved(app, action_id, number) == "approved"


async def recovered(task: Task, ledger: Ledger, *, later_ms: int = 0) -> None:
    """Restart on the same store and bring everything to its end."""
    clock = Clock(task.now_ms + later_ms)
    app = app_for(task, clock)
    try:
        survivors = Survivors(app, clock, ledger)
        before = await survivors.all()
        for number in range(task.actions):
            await survivors.carry_on(number)
        after = await survivors.all()
        assert {action.action_id for action in before} <= {action.action_id for action in after}
        assert len(after) == task.actions
        verdict = await audit_log.verify(app.store, Signer(app.keys.master))
        assert verdict.ok, verdict.findings
    finally:
        await app.close()


def test_every_named_place_is_in_the_matrix() -> None:
    assert {name for name, _ in MATRIX} == set(failpoints.NAMES)
    assert all((name, kind) in MATRIX for name, kind in NEVER)


@pytest.mark.parametrize(("place", "kind"), MATRIX)
def test_after_a_kill_nothing_is_lost_and_nothing_happens_twice(
    task: Task, provider: tuple[str, Ledger], workers: Workers, place: str, kind: str
) -> None:
    url, ledger = provider
    looking = place in LOOKING
    plan(url, *([Outcome.ERROR_AFTER] if looking else []))
    deadly = msgspec.structs.replace(task, dies_at=place, delivery=kind, reconciles=looking)
    workers.start(deadly)
    assert workers.ended() == (0 if (place, kind) in NEVER else -signal.SIGKILL)
    plan(url)
    later_ms = LEASE_SECONDS * 1000 if looking else 0
    asyncio.run(recovered(deadly, ledger, later_ms=later_ms))


@pytest.mark.parametrize("seed", range(4))
def test_after_a_kill_at_any_moment_nothing_is_lost_and_nothing_happens_twice(
    task: Task, provider: tuple[str, Ledger], workers: Workers, seed: int
) -> None:
    """Not at a named place: whenever the provider has seen so many calls."""
    url, ledger = provider
    plan(url)
    chance = random.Random(seed)  # noqa: S311 - a choice of tests
    many = msgspec.structs.replace(task, actions=12, delivery=chance.choice(KINDS))
    seen, wanted = len(ledger.calls()), chance.randint(1, 8)
    worker = workers.start(many)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while len(ledger.calls()) < seen + wanted:
        assert time.monotonic() < deadline
    os.kill(worker, signal.SIGKILL)
    assert workers.ended() == -signal.SIGKILL
    asyncio.run(recovered(many, ledger))
