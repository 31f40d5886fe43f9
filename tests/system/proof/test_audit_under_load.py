"""`audit verify` beside busy callers: an untouched journal is never called changed, and each change is named."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.effort import rounds
from tests.support.jobs.kit import Clock
from tests.support.own_sql import bind_marks
from tests.support.proof.ground import START_MS
from tests.support.proof.parts import MASTER, SECRET, app_for, asking
from tests.support.proof.recording import Client, MemoryRecorder
from tests.support.proof.workload import FATES, Life, live, write_workflow
from tests.support.reliability import Prove
from tests.support.warm_processes import ASSENT
from tests.support.warm_processes import run as run_process

from assent.app import App
from assent.ports import Single

pytestmark = [pytest.mark.slow, pytest.mark.prove]

CHECKS = 5
"""Of one run, by the server itself, as its page does, and by the command."""
RUNS = [(database, run) for database in ("sqlite", "postgres") for run in range(rounds(1, 20))]
CALLERS = 8
MOST_LIVES = 5_000
"""A bound on the callers, should a check never end."""

CHANGES = {
    "event beyond_head": "UPDATE streams SET seq = seq - 1 WHERE stream_id = ?",
    "event missing": "DELETE FROM events WHERE stream_id = ? AND seq = 2",
    "event truncated": "DELETE FROM events WHERE stream_id = ? AND seq = (SELECT seq FROM streams WHERE stream_id = ?)",
    "event cannot be decoded": "UPDATE events SET body = 'x' WHERE stream_id = ? AND seq = 2",
    "cannot be decoded": "UPDATE actions SET attempt = '{}' WHERE run_id = ?",
    "its digest is not the one that the journal has": "UPDATE actions SET digest = 'sha256:0' WHERE run_id = ?",
}
"""What a finding says, and the change that it names. Each is made to another run."""


@asynccontextmanager
async def busy(app: App, recorder: MemoryRecorder) -> AsyncIterator[None]:
    """Eight callers that stage, approve, edit, withdraw, reject and execute until the block ends."""
    over = asyncio.Event()
    first = asyncio.Event()
    lives = iter(range(MOST_LIVES))

    async def call(number: int) -> None:
        client = Client(f"caller {number}", recorder, asking(app))
        for life in lives:
            await live(client, Life(f"life {life}", "page", (*FATES, "workflow")[life % (len(FATES) + 1)]))
            first.set()
            if over.is_set():
                return

    callers = [asyncio.create_task(call(number)) for number in range(CALLERS)]
    try:
        await first.wait()
        yield
        assert all(not each.done() for each in callers), "the callers were done before the checks"
    finally:
        over.set()
        await asyncio.gather(*callers)


@pytest.mark.parametrize(("database", "run"), RUNS)
async def test_the_audit_is_right_beside_busy_callers(
    own_database_url: str, tmp_path: Path, provider: tuple[str, Path], prove: Prove, database: str, run: int
) -> None:
    recorder = MemoryRecorder()
    write_workflow(tmp_path)
    app = app_for(own_database_url, tmp_path, provider[0], Clock(START_MS))
    try:
        await app.prepare()
        client = Client("before", recorder, asking(app))
        quiet = [await live(client, Life(f"quiet {number}", "page")) for number in range(len(CHANGES))]
        async with busy(app, recorder):
            for number in range(CHECKS):
                assert await (find_by_page if number else find_by_command)(app) == []
            changed = await change_each(app, [str(each) for each in quiet])
            for find in (find_by_page, find_by_command):
                findings = await find(app)
                assert {each["streamId"] for each in findings} == set(changed.values())
                for what, run_id in changed.items():
                    named = (each for each in findings if each["streamId"] == run_id)
                    assert any(what in each["what"] for each in named), (what, findings)
    finally:
        await app.close()
    prove.row(f"audits beside {CALLERS} callers, {database}", "audits", CHECKS, calls=len(recorder.calls))


async def find_by_page(app: App) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(each) for each in (await app.services.verify_journal(None)).findings]


async def find_by_command(app: App) -> list[dict[str, Any]]:
    """`assent audit verify` in a process of its own. Its exit code says whether there are findings."""
    own = {
        "RUN_TOKEN_SECRET": SECRET,
        "ASSENT_SECRET": MASTER,
        "ASSENT_DATABASE_URL": app.settings.database_url,
        "ASSENT_DATA_DIR": str(app.settings.data_dir),
    }
    command = [ASSENT, "audit", "verify", "--json"]
    done = await asyncio.to_thread(
        run_process, command, capture_output=True, env={**os.environ, **own}, timeout=60
    )
    verdict = json.loads(done.stdout)
    assert (done.returncode, verdict["ok"]) in ((0, True), (1, False)), done
    found: list[dict[str, Any]] = verdict["findings"]
    return found


async def change_each(app: App, action_ids: list[str]) -> dict[str, str]:
    """Make each change to the run of another action. Returns the runs."""
    changed = {}
    for (what, text), action_id in zip(CHANGES.items(), action_ids, strict=True):
        find = bind_marks("SELECT run_id FROM actions WHERE action_id = ?", action_id)
        run_id: str = (await app.store.write(Single(find)))[0]["run_id"]
        await app.store.write(Single(bind_marks(text, *[run_id] * text.count("?"))))
        changed[what] = run_id
    return changed
