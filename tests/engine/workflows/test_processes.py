"""Many processes, and processes that are killed in the middle: exactly one advance each, and a log that holds."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.effort import rounds
from tests.engine.workflows.kit import Payload, Player, definition
from tests.processes.running import SECRETS, StdioClient
from tests.rules_manifest import ROOT
from tests.surfaces import ManualClock, Surface, settings_for
from tests.warm_processes import Process
from tests.workflow.library import loop, step

from assent.app import App
from assent.processes.serve import Surfaces

pytestmark = [pytest.mark.prove, pytest.mark.slow, pytest.mark.own_database]

KILLS = rounds(10, 200)
KILLS_OVER_STDIO = rounds(3, 20)
SQLITE_SHARE = 0.6
"""Of the kills; PostgreSQL gets the others, whose processes take longer to start."""

FOREVER = definition(
    "forever", loop("again", [step("body")], type="while", condition={"var": "more"}, maxIterations=1_000)
)


class Workers:
    """The process that forks others."""

    def __init__(self, url: str, data_dir: Path) -> None:
        self.process = Process(
            [sys.executable, "-m", "tests.engine.workflows.child", url, str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )

    def order(
        self, tool: str, processes: int = 1, kill_after_ms: float | None = None, **arguments: Any
    ) -> list[Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        order = {"tool": tool, "arguments": arguments, "processes": processes, "kill_after_ms": kill_after_ms}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer: list[Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


@pytest.fixture
def workers(database_url: str, tmp_path: Path) -> Iterator[Workers]:
    folder = tmp_path / "workflows"
    folder.mkdir()
    (folder / "forever.json").write_text(json.dumps(FOREVER))
    made = Workers(database_url, tmp_path)
    yield made
    made.close()


async def verdict(database_url: str, data_dir: Path, run_id: str) -> tuple[bool, list[Payload]]:
    """Whether the journal holds, and the advances it has."""
    app = App(settings_for(database_url, data_dir), clock=ManualClock())
    surface = Surface(app, Surfaces(app), ManualClock(), "http")
    player = Player(surface, data_dir / "workflows")
    try:
        acked = [body for kind, body in await player.events(run_id) if kind == "step_acked"]
        return await player.journal_holds(), acked
    finally:
        await surface.close()


@pytest.mark.rule("W13", "W14")
async def test_twenty_processes_with_the_same_token_make_one_advance_and_get_equal_answers(
    workers: Workers, database_url: str, tmp_path: Path
) -> None:
    [at] = workers.order("start", workflowId="forever", context={"more": True})
    for turn, processes in enumerate((20, 2, 2), start=1):
        tokens = {"stateToken": at["stateToken"], "ackToken": at["ackToken"]}
        answers = workers.order("advance", processes, **tokens, notesMarkdown=f"round {turn}")
        assert len(answers) == processes and all(answer == answers[0] for answer in answers)
        assert answers[0]["pending"]["stepKey"] == f"again[{turn + 1}]/body"
        at = answers[0]
    holds, acked = await verdict(database_url, tmp_path, at["session"]["runId"])
    assert holds and len(acked) == 3


@pytest.mark.rule("W15", "W66")
async def test_whoever_is_killed_during_an_advance_leaves_exactly_one_once_it_is_sent_again(
    workers: Workers, database_url: str, tmp_path: Path
) -> None:
    chance = random.Random(7)  # noqa: S311 - when to kill
    [at] = workers.order("start", workflowId="forever", context={"more": True})
    share = SQLITE_SHARE if database_url.startswith("sqlite") else 1 - SQLITE_SHARE
    kills = round(KILLS * share)
    killed = 0
    for n in range(kills):
        content = {"stateToken": at["stateToken"], "ackToken": at["ackToken"], "notesMarkdown": f"round {n}"}
        [first] = workers.order("advance", kill_after_ms=chance.uniform(0.2, 12), **content)
        killed += first is None
        [again] = workers.order("advance", **content)
        assert again["pending"]["stepKey"] == f"again[{n + 2}]/body"
        assert first is None or first == again
        at = again
    holds, acked = await verdict(database_url, tmp_path, at["session"]["runId"])
    assert holds
    assert [(event["parent"], event["node"]) for event in acked] == [(n, n + 1) for n in range(kills)]
    assert killed >= kills // 8, "hardly anything was killed in time"


@pytest.mark.rule("W7", "W15", "W75")
def test_a_stdio_server_that_is_killed_in_the_middle_loses_and_repeats_nothing(tmp_path: Path) -> None:
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "forever.json").write_text(json.dumps(FOREVER))
    chance = random.Random(11)  # noqa: S311 - when to kill
    sent: Payload = {}
    for n in range(KILLS_OVER_STDIO + 1):
        with StdioClient(tmp_path, SECRETS) as client:
            if n == 0:
                at = client.call("workflow_start", workflowId="forever", context={"more": True})
            else:
                # What the server before this one was killed over, sent again.
                at = client.call("workflow_advance", **sent)
                assert at["pending"]["stepKey"] == f"again[{n + 1}]/body", at
                assert client.call("workflow_advance", **sent) == at
            if n == KILLS_OVER_STDIO:
                break
            sent = {"stateToken": at["stateToken"], "ackToken": at["ackToken"]}
            params = {"name": "workflow_advance", "arguments": sent}
            call = {"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": params}
            client.write(json.dumps(call).encode() + b"\n")
            with contextlib.suppress(AssertionError):
                client.line(chance.choice([0.0001, 0.0005, 0.001, 0.005, 0.02]))
            client.process.kill()
            assert all(json.loads(line)["jsonrpc"] == "2.0" for line in client.seen if line.endswith(b"\n"))
    with StdioClient(tmp_path, SECRETS) as client:
        events = client.call("chieflab_query_audit", runId=at["session"]["runId"])["events"]
    assert sum(event["kind"] == "step_acked" for event in events) == KILLS_OVER_STDIO
