"""Old sessions go as a whole; what anything still reaches stays (W72)."""

from __future__ import annotations

import pytest
from tests.support.workflows.kit import Player, definition, three_steps
from tests.support.workflows.library import step

from assent.engine.workflows.store import FORGET_JOB
from assent.jobs.kinds import job_kinds

pytestmark = [pytest.mark.rule("W72"), pytest.mark.own_database]


async def sweep(play: Player) -> None:
    await job_kinds(play.surface.app)[FORGET_JOB].run(None)  # type: ignore[arg-type]


async def test_a_session_goes_after_its_time_and_its_ledger_stays(play: Player) -> None:
    play.write(three_steps("other-steps"))
    old = await play.start("other-steps", sessionId="old")
    await play.checkpoint(await play.advance(old, notesMarkdown="x"), "kept for a while")
    play.surface.clock.advance(days=60)
    kept = await play.start(sessionId="kept")
    play.surface.clock.advance(days=31)
    events = await play.kinds(old["session"]["runId"])
    await sweep(play)
    assert (await play.send(old)).reason == "token_unknown_node"
    assert (await play.ask("workflow_resume", sessionId="old")).payload["runs"] == []
    assert await play.kinds(old["session"]["runId"]) == events
    assert await play.journal_holds()
    assert await play.sql("SELECT workflow_id FROM workflow_programs") == [("three-steps",)]
    for table in ("workflow_nodes", "workflow_answers", "workflow_checkpoints", "workflow_runs"):
        assert await play.sql(f"SELECT 1 FROM {table} WHERE run_id = ?", old["session"]["runId"]) == []
    assert (await play.advance(kept))["pending"]["stepId"] == "two"
    again = await play.start("other-steps", sessionId="old")
    assert (await play.advance(again))["pending"]["stepId"] == "two"


async def test_what_is_touched_or_shared_or_waits_for_a_person_stays(play: Player) -> None:
    gated = definition("gated", step("release", requireConfirmation=True))
    touched = await play.start(sessionId="touched")
    noted = await play.start(sessionId="noted")
    joined = await play.start(sessionId="joined")
    waiting = await play.start(gated, sessionId="waiting")
    play.surface.clock.advance(days=89)
    await play.advance(touched)
    await play.checkpoint(noted, "still here")
    await play.start(sessionId="joined")
    refusal = await play.send(waiting, notesMarkdown="please")
    play.surface.clock.advance(days=2)
    await sweep(play)
    for at in (touched, noted, joined):
        assert (await play.advance(at, notesMarkdown="on"))["pending"]["stepId"] == "two"
    again = await play.send(waiting, notesMarkdown="please")
    assert again.payload["actionId"] == refusal.payload["actionId"]
    play.surface.clock.advance(days=200)
    await sweep(play)
    assert (await play.send(waiting, notesMarkdown="please")).reason == "token_unknown_node"
    assert (await play.action(refusal.payload["actionId"]))["status"]
