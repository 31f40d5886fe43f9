"""Servers without a transport, in processes that are forked, used and killed.

    python -m tests.support.proof.worker

reads tasks, a line of JSON each, forks a worker for every one, and writes two numbers: its process id at once, and how
it ended. The process that forks has imported everything but the SDK, so that hundreds can be killed in a minute.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import msgspec
from proof.promises import EXECUTE, RESOLVE
from tests.support.jobs.kit import Clock
from tests.support.proof.broken import break_build
from tests.support.proof.parts import Ask, app_for, asking
from tests.support.proof.recording import Client, FileRecorder
from tests.support.proof.workload import GET, Life, live, relay

from assent.app import App
from assent.engine.actions import reconciliation
from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Signer
from assent.engine.core import failpoints
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.jobs.kinds import job_kinds
from assent.jobs.worker import Runner
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Refusal
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import read_message, request


class Turn(msgspec.Struct, frozen=True):
    """One life in a worker."""

    life: Life
    outcomes: list[str] = []
    """What the provider does to the next requests."""
    dies_at: str = ""
    later_ms: int | None = None
    """Run jobs this long after the life."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A worker's work. It first runs the jobs that are due, as a server does that starts."""

    database_url: str
    data_dir: str
    provider_url: str
    ledger: str
    history: str
    now_ms: int
    broken: str = ""
    turns: list[Turn] = []
    later_ms: list[int] = []
    """Run jobs at these times after the turns, too."""
    evidence: str = ""
    """A file for the records and the journal, written at the end."""


async def run(task: Task) -> dict[str, Any] | None:
    """Do the work; returns what was read at the end, if that is asked for."""
    break_build(task.broken)
    clock = Clock(task.now_ms)
    app = app_for(task.database_url, Path(task.data_dir), task.provider_url, clock)
    await app.prepare()
    recorder = FileRecorder(Path(task.history))
    client = Client(f"worker {os.getpid()}", recorder, asking(app))
    await run_jobs(app)
    ids = []
    for turn in task.turns:
        if turn.outcomes:
            await plan(task.provider_url, turn.outcomes)
        if turn.dies_at:
            failpoints.arm(turn.dies_at, die)
        ids.append(await live(client, turn.life))
        if turn.later_ms is not None:
            clock.at_ms += turn.later_ms
            await run_jobs(app)
    for later_ms in task.later_ms:
        clock.at_ms = task.now_ms + later_ms
        await run_jobs(app)
    read = None
    if task.evidence:
        person = Client("a person", recorder, answering(app), "person")
        read = await read_evidence(app, client, Ledger(Path(task.ledger)), person)
    await app.close()
    return read


async def run_jobs(app: App) -> None:
    runner = Runner(app.store, app.clock, job_kinds(app), worker=f"worker {os.getpid()}")
    while await runner.run_due_once():
        pass


async def read_evidence(
    app: App, client: Client, ledger: Ledger, person: Client | None = None
) -> dict[str, Any]:
    """Read every action and the whole journal. First what is still in question is answered by what the provider shows:
    the client may pass on that it happened; that it did not, only a person can say, and then it is sent again."""
    export = [line.decode() async for line in audit_log.export(app.store)]
    records = {
        each["actionId"]: await client.call(GET, actionId=each["actionId"]) for each in _prepared(export)
    }
    for action_id, record in records.items():
        if record is not None and record.get("executionState") == "outcome_unknown":
            seen = [effect for n in (1, 2) for effect in ledger.effects(f"{action_id}:{n}")]
            if seen:
                await relay(client, action_id, seen[0].effect_id)
            elif person is not None:
                await person.call(RESOLVE, actionId=action_id, outcome="did_not_happen", evidence="looked")
                await client.call(EXECUTE, actionId=action_id, idempotencyKey=f"after the answer {action_id}")
            records[action_id] = await client.call(GET, actionId=action_id)
    verdict = await audit_log.verify(app.store, Signer(app.keys.master))
    kept = {name: record for name, record in records.items() if record is not None and record.get("ok")}
    export = [line.decode() async for line in audit_log.export(app.store)]
    return {"records": kept, "verified": verdict.ok, "now": app.clock.now_ms(), "export": export}


def answering(app: App) -> Ask:
    """A signed-in person who says what became of an action."""

    async def ask(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        facts = {"by": "Ada", "assurance": "person", "via": "page", "evidence": arguments["evidence"]}
        action_id, happened = ActionId(arguments["actionId"]), arguments["outcome"] == "happened"
        now_ms = app.clock.now_ms()
        try:
            await app.store.write(
                lambda: reconciliation.resolve(LOCAL_WORKSPACE, action_id, happened, facts, now_ms)
            )
        except Refusal as refusal:
            return {"ok": False, "reason": refusal.reason.value}
        return {"ok": True}

    return ask


def _prepared(export: list[str]) -> list[dict[str, str]]:
    events = [json.loads(line) for line in export if '"kind":"run_prepared"' in line]
    return [each for event in events for each in event["body"].get("actions", ())]


async def plan(url: str, outcomes: list[str]) -> None:
    """Tell the provider what to do to the next requests."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request("POST", "/plan", host, json.dumps({"outcomes": outcomes}).encode(), {}))
    await read_message(reader)
    writer.close()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fork(task: Task) -> None:
    worker = os.fork()
    if worker == 0:
        try:
            if (read := asyncio.run(run(task))) is not None:
                Path(task.evidence).write_text(json.dumps(read))
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
