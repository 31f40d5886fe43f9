"""What the tests of connectors share: a whole engine with chosen connectors, and the walk from stage to outcome."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.edits import edit
from tests.support.surfaces import ManualClock, settings_for

from assent.app import App
from assent.engine.actions import actions, decisions, reconciliation
from assent.engine.actions.execution import ExecutionOrder
from assent.engine.actions.recording import RECONCILE_JOB
from assent.engine.core.jobs import JobKind
from assent.engine.core.tenancy import LOCAL_PRINCIPAL, LOCAL_WORKSPACE
from assent.gate.effects import EXECUTE
from assent.gate.gate import Decider, SeenVersion
from assent.gate.records import Action, Assurance
from assent.jobs.worker import Runner
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Refusal
from assent.ports import Connector
from assent.present.outlook import Executed
from assent.use_cases import executions
from assent_conform.testing import operator
from assent_conform.testing.operator import Wanted
from assent_launch.testing import any_effects

CONNECTOR_SECONDS = 20.0
LEASE_SECONDS = 30.0
PERSON = Decider(LOCAL_WORKSPACE, "Ada", Assurance.PERSON, "test")


class Engine:
    """The real engine over a real store, with a clock to move by hand."""

    def __init__(self, app: App, clock: ManualClock) -> None:
        self.app = app
        self.services = app.owner_services
        self.clock = clock

    async def approved(self, wanted: Wanted) -> ActionId:
        """A staged effect that a person has approved."""
        run = await operator.stage(self.services, LOCAL_PRINCIPAL, wanted)
        action_id = ActionId(run.actions[0].id)
        await self.approve(action_id)
        return action_id

    async def approve(self, action_id: ActionId) -> None:
        shown = SeenVersion(digest=(await self.action(action_id)).digest)
        await self.app.store.write(
            lambda: decisions.approve(
                PERSON, action_id, shown, self.clock.now_ms(), seals=self.app.keys.seals
            )
        )

    async def edit(self, action_id: ActionId, **changes: Any) -> Action:
        return await edit(self.app.owner_services, PERSON, action_id, changes)

    async def reject(self, action_id: ActionId) -> Action:
        return await self.app.store.write(
            lambda: decisions.reject(PERSON, action_id, "no", SeenVersion(), self.clock.now_ms())
        )

    async def execute(self, action_id: ActionId, key: str | None = None) -> Executed | Refusal:
        """What an executor answers, refusals included."""
        order = ExecutionOrder(
            workspace_id=LOCAL_WORKSPACE, action_id=action_id, tool=EXECUTE, by="test", key=key
        )
        try:
            return await executions.execute(self.services, order)
        except Refusal as refusal:
            return refusal

    async def action(self, action_id: ActionId) -> Action:
        action, _ = await self.app.store.read(lambda: actions.find(LOCAL_WORKSPACE, action_id))
        return action

    async def reconcile(self) -> int:
        """Let every lease end and run the jobs that look after lost outcomes."""
        self.clock.advance(seconds=LEASE_SECONDS + 1)
        return await self.run_jobs()

    async def run_jobs(self) -> int:
        kind = JobKind(lambda job: executions.reconcile(self.services, job))
        return await Runner(self.app.store, self.clock, {RECONCILE_JOB: kind}, worker="test").run_due_once()

    async def resolve(self, action_id: ActionId, happened: bool, evidence: str) -> Action:
        facts = {"by": "Ada", "assurance": "person", "evidence": evidence}
        return await self.app.store.write(
            lambda: reconciliation.resolve(LOCAL_WORKSPACE, action_id, happened, facts, self.clock.now_ms())
        )


@asynccontextmanager
async def engine_with(
    database_url: str,
    data_dir: Path,
    connectors: Callable[[ManualClock], dict[str, Connector]] | None = None,
    *,
    clock: ManualClock | None = None,
    **changes: Any,
) -> AsyncIterator[Engine]:
    """An engine; without `connectors` with those that are built in."""
    clock = clock or ManualClock()
    settings = settings_for(
        database_url,
        data_dir,
        **{
            "connector_timeout_seconds": CONNECTOR_SECONDS,
            "execution_lease_seconds": LEASE_SECONDS,
            **changes,
        },
    )
    app = App(
        settings,
        clock=clock,
        connectors=connectors(clock) if connectors is not None else None,
        effects=any_effects(),
    )
    try:
        await app.prepare()
        yield Engine(app, clock)
    finally:
        await app.close()
