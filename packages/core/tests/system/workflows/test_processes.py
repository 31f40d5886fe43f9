"""Servers that are killed in the middle of an advance: exactly one advance each, and a log that holds."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from pathlib import Path

import pytest
from tests.support.effort import rounds
from tests.support.processes.running import SECRETS, StdioClient
from tests.support.surfaces import ManualClock, Surface, settings_for
from tests.support.workflows.kit import Payload, WorkflowClient, definition
from tests.support.workflows.library import loop, step

from assent.app import App

pytestmark = [pytest.mark.prove, pytest.mark.slow, pytest.mark.own_database]

KILLS = rounds(4, 60)

FOREVER = definition(
    "forever", loop("again", [step("body")], type="while", condition={"var": "more"}, maxIterations=1_000)
)


async def verdict(database_url: str, data_dir: Path, run_id: str) -> tuple[bool, list[Payload]]:
    """Whether the journal holds, and the advances it has."""
    app = App(settings_for(database_url, data_dir), clock=ManualClock())
    async with Surface(app) as surface:
        player = WorkflowClient(surface, data_dir / "workflows")
        acked = [body for kind, body in await player.events(run_id) if kind == "step_acked"]
        return await player.journal_holds(), acked


@pytest.mark.rule("W7", "W15", "W66", "W75")
async def test_a_stdio_server_that_is_killed_in_the_middle_loses_and_repeats_nothing(
    database_url: str, tmp_path: Path
) -> None:
    run_id = await asyncio.to_thread(
        advance_under_kills, {**SECRETS, "ASSENT_DATABASE_URL": database_url}, tmp_path
    )
    holds, acked = await verdict(database_url, tmp_path, run_id)
    assert holds
    assert [(event["parent"], event["node"]) for event in acked] == [(n, n + 1) for n in range(KILLS)]


def advance_under_kills(settings: dict[str, str], tmp_path: Path) -> str:
    """Kill each server at some moment of an advance, and send the advance again to the next one. Returns the run."""
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "forever.json").write_text(json.dumps(FOREVER))
    chance = random.Random(11)  # noqa: S311 - when to kill
    sent: Payload = {}
    for n in range(KILLS + 1):
        with StdioClient(tmp_path, settings) as client:
            if n == 0:
                at = client.call("workflow_start", workflowId="forever", context={"more": True})
            else:
                # What the server before this one was killed over, sent again.
                at = client.call("workflow_advance", **sent)
                assert at["pending"]["stepKey"] == f"again[{n + 1}]/body", at
                assert client.call("workflow_advance", **sent) == at
            if n == KILLS:
                break
            sent = {"stateToken": at["stateToken"], "ackToken": at["ackToken"]}
            params = {"name": "workflow_advance", "arguments": sent}
            call = {"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": params}
            client.write(json.dumps(call).encode() + b"\n")
            with contextlib.suppress(AssertionError):
                client.line(chance.choice([0.0001, 0.0005, 0.001, 0.005, 0.02]))
            client.process.kill()
            assert all(json.loads(line)["jsonrpc"] == "2.0" for line in client.seen if line.endswith(b"\n"))
    run_id: str = at["session"]["runId"]
    return run_id
