"""A client that knows only the five sources drives the loop and a workflow to the end, on every surface."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.contract.seed_client import SeedClient, Stopped
from tests.support.surfaces import Surface

GOAL = "teams that wait for imports"
EVIDENCE = {
    "whatChanged": "Refresh imports only changed rows.",
    "README": "# Tern\n\nTern turns a folder of spreadsheets into tables that can be queried.",
    "targetCustomer": "teams with large tables",
}
STEPS = ("triage", "look", "release")


@pytest.fixture
def changed_settings(tmp_path: Path) -> dict[str, Any]:
    folder = tmp_path / "workflows"
    folder.mkdir()
    steps = [
        {
            "id": name,
            "title": name.title(),
            "prompt": f"Do the {name}.",
            "requireConfirmation": name == "release",
        }
        for name in STEPS
    ]
    told = {"id": "seed-flow", "name": "Seed flow", "description": "Three steps.", "version": "1.0.0"}
    (folder / "seed-flow.json").write_text(json.dumps({**told, "steps": steps}))
    return {"workflow_dirs": (str(folder),)}


class Human:
    """Reads what is shown, approves what can go out here, and rejects the rest."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, shown: str) -> str:
        self.read.append(shown)
        return "approve"


async def connect(surface: Surface) -> tuple[SeedClient, Human]:
    await surface.sign_in()

    async def send(message: dict[str, Any]) -> dict[str, Any] | None:
        return (await surface.send(message))[0]

    human = Human()
    client = SeedClient(send, human)
    await client.connect()
    return client, human


async def stopped_by(client: SeedClient, tool: str, **arguments: Any) -> dict[str, Any]:
    with pytest.raises(Stopped) as stopped:
        await client.call(tool, **arguments)
    return stopped.value.refusal


@pytest.mark.rule("E11", "E12", "E15", "E25", "E51", "E57", "E80", "E88")
async def test_a_client_of_the_sources_launches_approves_executes_and_measures(surface: Surface) -> None:
    client, human = await connect(surface)

    run = await client.launch(GOAL, EVIDENCE)
    said = client.review(run)
    ready = next(each for each in run["actions"] if each["preflight"]["connectorReady"])
    blocked = next(each for each in run["actions"] if not each["preflight"]["connectorReady"])
    early = await stopped_by(client, ready["executorTool"], actionId=ready["id"])
    assert (early["reason"], early["reviewUrl"], early["recoveryTool"]) == (
        "requires_approval",
        run["reviewUrl"],
        None,
    )

    assert (await client.decide(ready["id"], said[ready["id"]]))["status"] == "approved"
    assert (await client.decide(blocked["id"], "reject: Not there."))["status"] == "rejected"
    closed = await stopped_by(client, "chieflab_approve_action", actionId=blocked["id"])
    unknown = await stopped_by(client, "chieflab_approve_action", actionId=run["runId"])
    assert (closed["retryable"], unknown["reason"], unknown["recoveryTool"]) == (
        False,
        "wrong_workspace",
        None,
    )
    done = await client.execute(ready, "launch-1")
    assert done["actionId"] == ready["id"] and len(human.read) == len(run["actions"]) + 1

    too_early = await stopped_by(client, "chiefmo_measure_launch_results", runId=run["runId"])
    assert too_early["reason"] == "measurement_unavailable"
    surface.clock.advance(hours=25)
    measured = await client.call("chieflab_measure", runId=run["runId"])
    assert "measurement" in {asset["type"] for asset in measured["assets"]}
    memory = json.dumps(await client.call("chieflab_brain_read"))
    assert "Not there." in memory


@pytest.mark.rule("W9", "W11", "W40", "W76", "E57")
async def test_a_client_of_the_sources_follows_a_workflow_to_its_end(surface: Surface) -> None:
    client, human = await connect(surface)
    listed = (await client.call("workflow_list"))["workflows"]
    assert "seed-flow" in {each["workflowId"] for each in listed}
    await client.call("workflow_inspect", workflowId="seed-flow")

    done = await client.follow("seed-flow", "AUTH-1234", lambda prompt: f"Done: {prompt}")

    assert done == list(STEPS)
    assert len(human.read) == 1

    first = await client.call("workflow_start", workflowId="seed-flow", context={"ticketId": "AUTH-2"})
    other = await client.call("workflow_start", workflowId="seed-flow", context={"ticketId": "AUTH-3"})
    tokens = {name: first[name] for name in ("stateToken", "ackToken")}
    kept = await client.call("workflow_checkpoint", stateToken=first["stateToken"], notesMarkdown="Half way.")
    assert kept["stateToken"] and kept["pending"]["stepId"] == "triage"
    ahead = await client.call("workflow_advance", **tokens, context={"notesMarkdown": "One."})
    branch = await client.call("workflow_advance", **tokens, context={"notesMarkdown": "Another."})
    assert ahead["pending"]["stepId"] == branch["pending"]["stepId"] == "look"
    assert ahead["stateToken"] != branch["stateToken"]
    for wrong in (
        {**tokens, "ackToken": other["ackToken"]},
        {**tokens, "ackToken": ahead["ackToken"]},
        {**tokens, "stateToken": tokens["stateToken"][:-3] + "AAA"},
    ):
        refused = await stopped_by(client, "workflow_advance", **wrong)
        assert refused["reason"].startswith("token_"), refused
