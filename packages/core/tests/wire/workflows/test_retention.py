"""Old sessions go as a whole; what anything still reaches stays (W72)."""

from __future__ import annotations

import pytest
from tests.support.workflows.kit import WorkflowClient, definition, three_steps
from tests.support.workflows.library import step

from assent.engine.workflows.store import FORGET_JOB
from assent.jobs.kinds import job_kinds

pytestmark = [pytest.mark.rule("W72"), pytest.mark.own_database]


async def sweep(client: WorkflowClient) -> None:
    await job_kinds(client.surface.app)[FORGET_JOB].run(None)  # type: ignore[arg-type]


async def test_a_session_goes_after_its_time_and_its_ledger_stays(client: WorkflowClient) -> None:
    client.write(three_steps("other-steps"))
    old = await client.start("other-steps", sessionId="old")
    await client.checkpoint(await client.advance(old, notesMarkdown="x"), "kept for a while")
    client.surface.clock.advance(days=60)
    kept = await client.start(sessionId="kept")
    client.surface.clock.advance(days=31)
    events = await client.kinds(old["session"]["runId"])
    await sweep(client)
    assert (await client.send(old)).reason == "token_unknown_node"
    assert (await client.ask("workflow_resume", sessionId="old")).payload["runs"] == []
    assert await client.kinds(old["session"]["runId"]) == events
    assert await client.journal_holds()
    assert await client.sql("SELECT workflow_id FROM workflow_programs") == [("three-steps",)]
    for table in ("workflow_nodes", "workflow_answers", "workflow_checkpoints", "workflow_runs"):
        assert await client.sql(f"SELECT 1 FROM {table} WHERE run_id = ?", old["session"]["runId"]) == []
    assert (await client.advance(kept))["pending"]["stepId"] == "two"
    again = await client.start("other-steps", sessionId="old")
    assert (await client.advance(again))["pending"]["stepId"] == "two"


async def test_what_is_touched_or_shared_or_waits_for_a_person_stays(client: WorkflowClient) -> None:
    gated = definition("gated", step("release", requireConfirmation=True))
    touched = await client.start(sessionId="touched")
    noted = await client.start(sessionId="noted")
    joined = await client.start(sessionId="joined")
    waiting = await client.start(gated, sessionId="waiting")
    client.surface.clock.advance(days=89)
    await client.advance(touched)
    await client.checkpoint(noted, "still here")
    await client.start(sessionId="joined")
    refusal = await client.send(waiting, notesMarkdown="please")
    client.surface.clock.advance(days=2)
    await sweep(client)
    for at in (touched, noted, joined):
        assert (await client.advance(at, notesMarkdown="on"))["pending"]["stepId"] == "two"
    again = await client.send(waiting, notesMarkdown="please")
    assert again.payload["actionId"] == refusal.payload["actionId"]
    client.surface.clock.advance(days=200)
    await sweep(client)
    assert (await client.send(waiting, notesMarkdown="please")).reason == "token_unknown_node"
    assert (await client.action(refusal.payload["actionId"]))["status"]
