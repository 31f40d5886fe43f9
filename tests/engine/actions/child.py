"""Workers that stage, approve and execute in processes of their own, and die where they are told to.

    python -m tests.engine.actions.child

reads tasks, a line of JSON each, forks a worker for every one, and writes two numbers: its process id at once and how
it ended afterwards. Deliberately without the SDK and without a transport, so that hundreds can be killed in a minute.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback
from pathlib import Path

import msgspec

from assent.app import App
from assent.engine.actions import execution
from assent.engine.actions.circumstances import Decided
from assent.engine.actions.execution import EXECUTE_TOOL, ExecutionOrder
from assent.engine.core import failpoints
from assent.engine.core.tenancy import LOCAL_PRINCIPAL, LOCAL_WORKSPACE
from assent.jobs.kinds import job_kinds
from assent.jobs.worker import Runner
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Refusal
from assent.ports import Delivery
from assent.settings.load import Settings
from assent.suite.testing.effect_types import any_effects
from assent.testing.connector import DELIVERIES, EmulatedConnector
from assent.testing.operator import Wanted, stage
from assent.tools import approvals
from assent.tools.decision_requests import ApproveAction
from assent.tools.definition import Call

LEASE_SECONDS = 60


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What to do, and where to die."""

    database_url: str
    data_dir: str
    provider_url: str
    now_ms: int
    delivery: str = "none"
    dies_at: str | None = None
    reconciles: bool = False
    actions: int = 1
    secret: str
    master: str


class Clock:
    """Time as a value."""

    def __init__(self, at_ms: int) -> None:
        self.at_ms = at_ms

    def now_ms(self) -> int:
        return self.at_ms


def delivery(kind: str) -> Delivery:
    return next(each for each in DELIVERIES if each.kind == kind)


def app_for(task: Task, clock: Clock) -> App:
    """A server on the task's store, with the provider behind it."""
    settings = Settings(
        data_dir=Path(task.data_dir),
        database_url=task.database_url,
        base_url="http://127.0.0.1:8080",
        run_token_secrets=(task.secret,),
        secrets=(task.master,),
        connector_timeout_seconds=10,
        execution_lease_seconds=LEASE_SECONDS,
    )
    connector = EmulatedConnector(task.provider_url, delivery(task.delivery))
    return App(settings, clock=clock, connectors={connector.id: connector}, effects=any_effects())


def call(app: App) -> Call:
    return Call(
        app.services, LOCAL_PRINCIPAL, "127.0.0.1", "child", app.clock.now_ms(), keyed_as="ApproveAction"
    )


async def staged(app: App, number: int) -> ActionId:
    wanted = Wanted(body=f"We shipped version {number} of dark mode today. Try it in the settings.")
    run = await stage(app.services, LOCAL_PRINCIPAL, wanted, key=f"stage {number}")
    return ActionId(run.actions[0].id)


async def approved(app: App, action_id: ActionId, number: int) -> str:
    request = ApproveAction(action_id=action_id, idempotency_key=f"approve {number}")
    answer = await approvals.approve_action(call(app), request)
    assert isinstance(answer, Decided)
    return answer.status


async def executed(app: App, action_id: ActionId, number: int) -> str:
    """The status, or the reason why not."""
    order = ExecutionOrder(
        workspace_id=LOCAL_WORKSPACE,
        action_id=action_id,
        tool=EXECUTE_TOOL,
        by="child",
        key=f"execute {number}",
    )
    try:
        return (await execution.execute(app.services, order)).status
    except Refusal as refusal:
        return refusal.reason.value


async def jobs_run(app: App) -> None:
    runner = Runner(app.store, app.clock, job_kinds(app), worker=f"child {os.getpid()}")
    while await runner.run_due_once():
        pass


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(task: Task) -> None:
    if task.dies_at is not None:
        failpoints.arm(task.dies_at, die)
    clock = Clock(task.now_ms)
    app = app_for(task, clock)
    await app.prepare()
    for number in range(task.actions):
        action_id = await staged(app, number)
        await approved(app, action_id, number)
        await executed(app, action_id, number)
    if task.reconciles:
        clock.at_ms += LEASE_SECONDS * 1000
        await jobs_run(app)
    await app.close()


def fork(task: Task) -> None:
    """A worker that has loaded everything already."""
    worker = os.fork()
    if worker == 0:
        try:
            asyncio.run(main(task))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    say(worker)
    _, status = os.waitpid(worker, 0)
    say(os.waitstatus_to_exitcode(status))


def say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if "mcp" in sys.modules:
        sys.exit("the SDK was imported")
    for line in sys.stdin:
        fork(msgspec.json.decode(line, type=Task))
