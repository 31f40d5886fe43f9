"""Nothing called from a transaction touches anything but its statements: no file, no socket, no library; for every
tool, every job, and the pages that decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.actions.guarded import Watched, guarded
from tests.support.actions.kit import Gate
from tests.support.catalog import ALL_TOOLS
from tests.support.surfaces import Outcome
from tests.support.workflows.kit import WorkflowClient, definition
from tests.support.workflows.library import step

from assent.engine.workflows import bundles
from assent.jobs.kinds import job_kinds
from assent.workflow import bundle as files
from assent_launch.site import feed as site_feed

__all__ = ["guarded"]


class Recorded:
    """Calls tools and keeps their names."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.called: set[str] = set()

    async def ask(self, tool: str, **arguments: Any) -> Outcome:
        self.called.add(tool)
        answer = await self.gate.call(tool, arguments)
        assert answer.reason not in ("validation_error", "internal_error"), (tool, answer.payload)
        return answer

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.ask(tool, **arguments)
        assert not answer.is_error, (tool, answer.payload)
        return answer.payload


@pytest.mark.own_database
@pytest.mark.usefixtures("guarded")
async def test_no_tool_and_no_job_touches_anything_within_a_transaction(
    surface: Gate, tmp_path: Path
) -> None:
    Watched.around(surface.app)
    agent = Recorded(surface)

    run_id = await act(agent)
    await look(agent, run_id)
    await walk(agent, tmp_path / "workflows")
    await work(surface)

    assert {tool.name for tool in ALL_TOOLS} - agent.called == set()


async def act(agent: Recorded) -> str:
    """Everything that is staged, decided, executed, measured and connected."""
    gate = agent.gate
    await agent.done("chieflab_create_tenant", tenantId="north")
    kept = await agent.done("chieflab_brain_record", kind="lesson", body="We ship on Fridays.")
    await agent.done("chieflab_brain_forget", entryId=kept["entries"][0]["entryId"])
    await agent.done(
        "chieflab_add_voice_sample", text="We build small things, and we say what they do not do."
    )
    await agent.done("chieflab_save_contacts", contacts=[{"email": "ann@example.org", "firstName": "Ann"}])
    await agent.done("chieflab_create_social_graphics", headline="We made a thing")
    await agent.done("chieflab_launch_product", repoContext={"whatChanged": "We made a thing."})
    await agent.ask("chieflab_diagnose_marketing", goal="more visits")
    await agent.ask("chieflab_send", to="ann@example.org", subject="Hello", body="We made a thing.")
    await agent.ask("chieflab_signup_workspace", email="bob@example.org")
    for tool in ("chieflab_connect_provider", "chieflab_disconnect_provider"):
        await agent.ask(tool, provider="slack")
    posted = await agent.done("chieflab_post", channel="site", title="Hi", body="We made a thing.")
    action_id = posted["publishAction"]["id"]
    await agent.done("chieflab_edit_action", actionId=action_id, body="We made a small thing.")
    digest = (await agent.done("chieflab_get_action", actionId=action_id))["digest"]
    await agent.done("chieflab_approve_action", actionId=action_id, digest=digest)
    await agent.done("chieflab_withdraw_approval", actionId=action_id)
    await agent.done("chieflab_reject_action", actionId=action_id, reason="Not now.")
    for tool in ("chieflab_execute_approved_action", "chieflab_publish_approved_post"):
        await agent.done(tool, actionId=await gate.approved())
    mail = {"verb": "email", "channel": "email", "recipients": ["ann@example.org"], "subject": "Hello"}
    await agent.ask("chieflab_send_approved_email", actionId=await gate.approved(**mail))
    unknown = await gate.bring_to("outcome_unknown")
    await agent.ask(
        "chieflab_resolve_unknown_outcome",
        actionId=unknown,
        outcome="happened",
        evidence="https://a.example/1",
    )
    await agent.ask("chieflab_send_email", actionId=await gate.approved(**mail))
    on_site = await gate.approved(connector="site", channel="site", verb="publish")
    await agent.done("chieflab_execute_approved_action", actionId=on_site)
    published = await gate.stored(on_site)
    await gate.app.store.write(lambda: site_feed.publish(published, gate.clock.now_ms()))
    await agent.done("chieflab_undo_action", actionId=on_site)
    by_hand = await gate.approved()
    await agent.ask("chieflab_use_manual_fallback", actionId=by_hand)
    await agent.ask("chieflab_record_manual_publish", actionId=by_hand, url="https://a.example/2")
    scheduled = await gate.staged(scheduleFor="2026-12-01T09:00:00Z")
    await gate.approve_as_shown(scheduled)
    run_id: str = posted["runId"]
    return run_id


async def look(agent: Recorded, run_id: str) -> None:
    """Everything that reads, and the page of a run."""
    for tool in (
        "chieflab_list_connectors",
        "chieflab_status",
        "chieflab_report",
        "chieflab_help",
        "chieflab_list_pending_actions",
        "chieflab_check_measurement_due",
        "chieflab_brain_read",
        "chieflab_list_voice_samples",
        "chieflab_list_tenants",
        "chieflab_query_audit",
        "chieflab_list_runs",
        "chieflab_get_workspace",
        "chieflab_get_policy",
    ):
        await agent.done(tool)
    assert (await agent.ask("chieflab_set_policy", policy={"preset": "relay"})).reason == "insufficient_scope"
    for tool in ("chieflab_measure", "chieflab_post_launch_review", "chieflab_get_run"):
        await agent.ask(tool, runId=run_id)
    await agent.ask(
        "chieflab_record_manual_metrics",
        runId=run_id,
        channel="site",
        metrics={"views": 3},
        source="https://a.example/3",
    )
    assets = (await agent.done("chieflab_list_assets", runId=run_id))["assets"]
    await agent.done("chieflab_get_asset", assetId=assets[0]["id"])


async def walk(agent: Recorded, folder: Path) -> None:
    """A workflow with a confirmation and a checkpoint; its session leaves and comes back."""
    file = definition("release", step("one"), step("two", requireConfirmation=True), step("three"))
    client = WorkflowClient(agent.gate, folder)
    client.write(file)
    await agent.done("workflow_list")
    await agent.done("workflow_inspect", workflowId="release")
    at = await agent.done("workflow_start", workflowId="release", sessionId="S")
    client.write(file)  # which is looked at again, before the transaction
    at = await agent.done("workflow_advance", stateToken=at["stateToken"], ackToken=at["ackToken"])
    await agent.done("workflow_checkpoint", stateToken=at["stateToken"], notesMarkdown="Half of it.")
    asked = await agent.ask("workflow_advance", stateToken=at["stateToken"], ackToken=at["ackToken"])
    await agent.done("chieflab_approve_action", actionId=asked.payload["actionId"])
    await agent.done("workflow_advance", stateToken=at["stateToken"], ackToken=at["ackToken"])
    await agent.done("workflow_advance", stateToken=at["stateToken"])
    await agent.done("workflow_resume", workflowId="release")
    gate = agent.gate
    of, app, now_ms = gate.workspace_id, gate.app, gate.clock.now_ms()
    bundle = await app.store.read(lambda: bundles.export(of, "S", now_ms))
    assert bundle is not None
    raw = files.write(bundle)
    made, digest = files.read(raw), files.digest_of(raw)
    await app.store.write(
        lambda: bundles.import_session(
            of, made, digest, app.keys.workflow_tokens, app.owner_services.new_id, now_ms
        )
    )


async def work(gate: Gate) -> None:
    """Every job: what is due in the coming weeks, and what repeats."""
    ran = await gate.run_jobs()
    for _ in range(4):
        gate.clock.advance(days=10)
        ran += await gate.run_jobs()
    assert ran > 0
    for kind in job_kinds(gate.app).values():
        if kind.every_ms is not None:
            await kind.run(None)  # type: ignore[arg-type]
