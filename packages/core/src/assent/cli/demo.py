"""`assent demo`: a scripted agent plays the whole loop on a real server, in under a minute."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
import tempfile
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from assent.cli.session import CommandSession, Failure
from assent.cli.workspaces import key_entropy
from assent.client import Client, Refused
from assent.engine.core import tenancy
from assent.extensions.hooks import load_extensions
from assent.kernel.distribution import LAUNCH
from assent.kernel.ids import WorkspaceId
from assent.processes.listening import bind
from assent.settings.load import load_settings

MEASURE_AFTER_SECONDS = 2.0
VISITOR = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/150.0",
    "Accept": "text/html",
}

PRODUCT: dict[str, Any] = {
    "goal": "first users for the new import",
    "brand": {
        "name": "Ledgerleaf",
        "audience": "people who keep the books of small clubs",
        "voice": "plain, warm",
    },
    "repoContext": {
        "whatChanged": "Ledgerleaf now imports bank statements as CSV and matches them to members. Payments without a "
        "member are listed for a second look. An import can be undone.",
        "readme": "# Ledgerleaf\n\nBookkeeping for clubs and small societies.\n\n- Members and their dues in one list\n"
        "- Bank statements import as CSV\n- A yearly report that the auditors can read\n",
        "targetCustomer": "treasurers of small clubs",
        "launchGoal": "first users for the new import",
    },
}


def demo(
    session: CommandSession,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Approve the first post yourself, in the browser.")
    ] = False,
) -> int:
    """Play the loop: prepare, show, approve, publish, measure, remember, and a second launch that
    has learned."""
    if all(each.name != LAUNCH for each in load_extensions()):
        raise Failure(
            "The demo plays a launch, and assent-launch is not installed. Install it beside this, then run it again."
        )
    return asyncio.run(_demo(session, interactive))


@dataclasses.dataclass
class DemoOutput:
    """The demo's output."""

    session: CommandSession
    number: int = 0

    def step(self, title: str) -> None:
        self.number += 1
        self.session.say(f"\n{self.number}. {title}")

    def tell(self, text: str) -> None:
        self.session.say(textwrap.indent(textwrap.fill(text, 96), "   "))

    def quote(self, text: str) -> None:
        lines = [line for paragraph in text.splitlines() for line in textwrap.wrap(paragraph, 92) or [""]]
        self.session.say("\n".join(f"   │ {line}" for line in lines))


@asynccontextmanager
async def _server(directory: Path) -> AsyncIterator[tuple[str, str]]:
    """Run a complete server: a new data directory, a free port, running jobs."""
    from assent.app import App
    from assent.processes.serve import Surfaces, http_server, running_jobs

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    flags = {"data_dir": str(directory), "port": str(port), "base_url": f"http://127.0.0.1:{port}"}
    environment = {
        "ASSENT_MEASURE_AFTER_SECONDS": str(MEASURE_AFTER_SECONDS),
        "ASSENT_LOG_LEVEL": "error",
        "ASSENT_RATE_LIMIT_PER_MINUTE": "1000",
    }
    app = App(load_settings(flags, environment).settings)
    await app.prepare()
    now_ms = app.clock.now_ms()
    workspace_id = WorkspaceId(app.services.new_id(now_ms))
    await app.store.write(lambda: tenancy.create_workspace(workspace_id, "Ledgerleaf", now_ms, by="demo"))
    entropy = key_entropy()
    issued = await app.store.write(lambda: tenancy.issue_key(workspace_id, entropy, now_ms, by="demo"))
    listeners = bind(app.settings)
    surfaces = Surfaces(app)
    server = http_server(surfaces.site(), surfaces.end_streams)
    try:
        async with running_jobs(app):
            serving = asyncio.create_task(server.serve(sockets=listeners))
            try:
                yield app.settings.base_url, issued.api_key
            finally:
                server.should_exit = True
                await serving
                for each in listeners:
                    each.close()
    finally:
        await app.close()  # after the jobs, which use the store until they have stopped


async def _demo(session: CommandSession, interactive: bool) -> int:
    stage = DemoOutput(session)
    with tempfile.TemporaryDirectory(prefix="assent-demo-") as directory:
        async with _server(Path(directory)) as (url, key), Client(url, key) as agent:
            session.say(f"A separate server runs at {url}. A scripted agent speaks MCP to it.")
            first = await _first_launch(stage, agent, interactive)
            await _show_measuring(stage, agent, first)
            await _show_learning(stage, agent)
            await _second_launch(stage, agent, first)
            await _show_trail(stage, agent)
    session.give({"ok": True, "steps": stage.number}, "The loop is closed.")
    return 0


async def _first_launch(stage: DemoOutput, agent: Client, interactive: bool) -> dict[str, Any]:
    stage.step("Prepare. The agent asks for a launch on the own site; nothing goes out.")
    run = await agent.call("chieflab_launch_product", channels=["site"], idempotencyKey="demo-1", **PRODUCT)
    action = run["actions"][0]
    draft = run["agentGuide"]["renderInChat"]["site"]
    stage.quote(draft["body"])
    stage.tell(f"Staged as {action['type']}, status {action['status']}, content {draft['digest']}.")

    stage.step("The agent tries to publish anyway. The server looks at the stored status, not at the prompt.")
    try:
        await agent.call("chieflab_publish_approved_post", actionId=action["id"])
    except Refused as refused:
        stage.tell(f"Refused: {refused.reason}. {refused.recovery['userMessage']}")

    if interactive:
        stage.step("Your turn: open this page, read, and approve.")
        stage.tell(run["reviewUrl"])
        await _await_decision(agent, action["id"])
    else:
        stage.step("Approve. The user says yes in the chat, and the agent relays it.")
        decided = await agent.call("chieflab_approve_action", actionId=action["id"], digest=draft["digest"])
        stage.tell(
            f"Stored: {decided['status']} with assurance '{decided['assurance']}', for exactly this content."
        )

    stage.step("Publish, twice at once. One effect.")
    publishing = [
        agent.call("chieflab_publish_approved_post", actionId=action["id"], idempotencyKey="demo-publish")
        for _ in range(2)
    ]
    answers = await asyncio.gather(*publishing, return_exceptions=True)
    done = next((answer for answer in answers if isinstance(answer, dict)), None)
    if done is None:
        raise RuntimeError(f"neither call published: {answers}")
    stage.tell(f"Published at {done['externalUrl']}")
    return {"run": run, "page": done["externalUrl"], "body": draft["body"]}


async def _await_decision(agent: Client, action_id: str) -> None:
    """Wait for the person's decision in the browser."""
    while True:
        record = await agent.call("chieflab_get_action", actionId=action_id)
        if record["status"] != "awaiting_approval":
            return
        await asyncio.sleep(1)


async def _show_measuring(stage: DemoOutput, agent: Client, launch: dict[str, Any]) -> None:
    import httpx

    stage.step("Three people read the page.")
    async with httpx.AsyncClient(headers=VISITOR) as visitor:
        for _ in range(3):
            (await visitor.get(launch["page"])).raise_for_status()
    stage.step(f"Measure. Normally a day later; here after {MEASURE_AFTER_SECONDS:g} seconds.")
    measured = await _when_due(agent, launch["run"]["runId"])
    for source in measured["measurement"]["sources"]:
        stage.tell(f"{source['channel']}: {source['metrics'] or source.get('reason')}")
    stage.tell(f"Next move: {measured['nextMove']['move']} {measured['nextMove']['why']}")
    views = sum(source["metrics"].get("views", 0) for source in measured["measurement"]["sources"])
    if views < 3:
        raise RuntimeError(f"three visits were made and {views} were counted")


async def _when_due(agent: Client, run_id: str) -> dict[str, Any]:
    while True:
        try:
            return await agent.call("chieflab_measure", runId=run_id)
        except Refused as refused:
            if refused.reason != "measurement_unavailable":
                raise
            await asyncio.sleep(min(float(refused.recovery.get("retryAfterSeconds", 1)), 1.0))


async def _show_learning(stage: DemoOutput, agent: Client) -> None:
    stage.step("Remember. The user rejects a second draft and says why; the server keeps it.")
    run = await agent.call("chieflab_post", channel="site", **PRODUCT)
    reason = "Too long, keep it shorter."
    await agent.call("chieflab_reject_action", actionId=run["actions"][0]["id"], reason=reason)
    stage.tell(f"Rejected: {reason}")


async def _second_launch(stage: DemoOutput, agent: Client, first: dict[str, Any]) -> None:
    stage.step("A second launch reads the memory.")
    run = await agent.call("chieflab_launch_product", channels=["site"], **PRODUCT)
    body = run["agentGuide"]["renderInChat"]["site"]["body"]
    stage.quote(body)
    used = {entry["kind"] for asset in run["assets"] for entry in asset.get("memoryUsed", [])}
    stage.tell(f"Shaped by memories of: {', '.join(sorted(used)) or 'none'}.")
    if body == first["body"]:
        raise RuntimeError("the second launch is the same as the first")


async def _show_trail(stage: DemoOutput, agent: Client) -> None:
    stage.step("The trail. Every decision and effect is on record.")
    trail = await agent.call("chieflab_query_audit")
    for action in trail["actions"]:
        by = f" by {action['approvedBy']} ({action['assurance']})" if action["approvedBy"] else ""
        stage.tell(f"{action['type']}: {action['status']}{by}")
