"""What the rows about pages share: a server with much on it, and somebody signed in who looks.

Twenty thousand actions in as many runs, half of them waiting, and ten thousand more in one run, copies of real ones as
in `gate_growth`; and a run of
a workflow with two thousand steps and a hundred branches, each step taken as in life.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Final

import httpx
import msgspec

from assent.app import App
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.engine.people import people
from assent.engine.workflows import sessions
from assent.engine.workflows.answers import WorkflowCall, WorkflowReply
from assent.gate.views import Severity
from assent.kernel.ids import RunId
from assent.ports import Transaction
from assent.processes.serve import Surfaces
from assent.workflow import Compiled
from assent.workflow.tokens import read
from benchmarks.figures import require
from benchmarks.rows.gate_growth import grown
from benchmarks.rows.gate_world import Insider, database, world
from benchmarks.rows.workflow_steps import WORKFLOW

ACTIONS: Final = 10_000
NODES: Final = 2_000
STEPS_TO_A_FORK: Final = 20
NOTES: Final = "Step {0}: what was done and found, and what comes next, in a few sentences. " * 3


class Places(msgspec.Struct, frozen=True):
    """Where the much is."""

    run_id: str
    """A run with all those actions."""
    session_run_id: str
    """A run with all those steps."""


class Look(msgspec.Struct, frozen=True):
    """What one look at a page cost."""

    ms: float
    processor_ms: float
    """Of all threads of this process: a busy machine does not add to it."""
    kilobytes: float
    """As received: compressed by the server."""
    html: str


async def filled(data_dir: Path, actions: int = ACTIONS, nodes: int = NODES) -> Places:
    """A data directory with so much in it."""
    folder = data_dir / "workflows"
    folder.mkdir(parents=True)
    (folder / "bench-loop.json").write_text(json.dumps(WORKFLOW))
    await grown(data_dir, 2 * actions)  # half of them wait
    app = world(data_dir)
    staged = await Insider(app).stage()
    session_run_id = await _long_run(app, nodes)
    await app.close()
    with closing(sqlite3.connect(database(data_dir))) as connection, connection:
        run_id: str = connection.execute(
            "SELECT run_id FROM actions WHERE action_id = ?", (staged,)
        ).fetchone()[0]
        _crowd(connection, staged, actions)
        # So many at once are held as a flood; here each of them waits in the inbox.
        connection.execute("UPDATE actions SET held = 0 WHERE status = 'awaiting_approval'")
        connection.execute(
            "INSERT INTO search_texts (workspace_id, item_id, run_id, about, body)"
            " SELECT workspace_id, action_id, run_id, 'Much of it', json_extract(effect, '$.body')"
            " FROM actions WHERE true ON CONFLICT DO NOTHING"
        )
        waiting = connection.execute(
            "SELECT count(*) FROM actions WHERE status = 'awaiting_approval'"
        ).fetchone()[0]
        require(int(waiting >= 2 * actions), 1, f"{waiting} actions wait")
        stored = connection.execute("SELECT count(*) FROM actions WHERE run_id = ?", (run_id,)).fetchone()[0]
        require(stored, actions, "actions in one run")
    return Places(run_id, session_run_id)


def _crowd(connection: sqlite3.Connection, action_id: str, copies: int) -> None:
    """Copies of one action in its own run, one place after the other."""
    told = connection.execute("PRAGMA table_xinfo(actions)").fetchall()
    columns = [name for _, name, _, _, _, _, hidden in told if not hidden]
    changed = {
        "action_id": "substr(action_id, 1, 23) || '-' || printf('%012x', copy)",
        "position": "copy",
    }
    values = [changed.get(name, name) for name in columns]
    connection.execute(
        f"WITH RECURSIVE copies (copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < {copies}),"
        " one AS MATERIALIZED (SELECT * FROM actions WHERE action_id = ?)"
        f" INSERT INTO actions ({', '.join(columns)}) SELECT {', '.join(values)} FROM one, copies",
        (action_id,),
    )


async def _long_run(app: App, nodes: int) -> str:
    """A run that goes on and on, and now and then from an earlier step: in one transaction, because two thousand take
    minutes on a busy disk."""
    compiled = app.workflows.find("bench-loop")
    require(int(isinstance(compiled, Compiled)), 1, "the workflow compiles")
    run_id = RunId(app.owner_services.new_id(app.clock.now_ms()))
    call = WorkflowCall(
        workspace_id=LOCAL_PRINCIPAL.workspace_id,
        principal=LOCAL_PRINCIPAL,
        keys=app.keys.workflow_tokens,
        now_ms=app.clock.now_ms(),
        new_id=app.owner_services.new_id,
        seals=app.keys.seals,
        grade_tool=lambda tool: Severity.LOW,
    )

    def follow() -> Transaction[None]:
        assert isinstance(compiled, Compiled)
        first = yield from sessions.begin_run(
            call, compiled.program.id, compiled, {"more": True}, "Much", run_id, None, "Much"
        )
        answers = [first.answer]
        for number in range(1, nodes):
            at = answers[len(answers) // 2] if number % STEPS_TO_A_FORK == 0 else answers[-1]
            state, ack = read(call.keys, at.state_token, "st"), read(call.keys, at.ack_token or "", "ack")
            reply = yield from sessions.step(call, state, ack, None, NOTES.format(number), None)
            assert isinstance(reply, WorkflowReply)
            answers.append(reply.answer)

    await app.store.write(follow)
    return run_id


class Looker:
    """Somebody signed in, in this process: no network, nothing but the server's own time."""

    def __init__(self, browser: httpx.AsyncClient) -> None:
        self._browser = browser

    async def look(self, path: str) -> Look:
        began, used = time.perf_counter(), time.process_time()
        answer = await self._browser.get(path)
        ms, processor_ms = (time.perf_counter() - began) * 1_000, (time.process_time() - used) * 1_000
        require(int(answer.status_code == 200), 1, f"{path} answered {answer.status_code}")
        require(int(answer.headers["content-encoding"] == "gzip"), 1, f"{path} is compressed")
        return Look(ms, processor_ms, int(answer.headers["content-length"]) / 1_024, answer.text)


@asynccontextmanager
async def looking(data_dir: Path) -> AsyncIterator[Looker]:
    """The server of a data directory with its owner signed in."""
    app = world(data_dir)
    try:
        await app.prepare()
        entropy, now_ms = os.urandom(people.ENTROPY_BYTES), app.clock.now_ms()
        token = await app.store.write(lambda: people.issue_link(entropy, now_ms, shown_to="terminal"))
        transport = httpx.ASGITransport(app=Surfaces(app).site())
        async with httpx.AsyncClient(transport=transport, base_url=app.settings.base_url) as browser:
            signed_in = await browser.post(f"/sign-in/{token}", data={})
            require(int(signed_in.status_code == 303), 1, "signing in")
            yield Looker(browser)
    finally:
        await app.close()
