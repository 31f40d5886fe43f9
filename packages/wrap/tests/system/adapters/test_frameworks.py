"""The examples of the adapters: the agent's process ends between proposal and approval, and no call runs twice."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.support.adapters.server import Server
from tests.support.effort import PROVE
from tests.support.processes.running import eventually

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[5]
PEERS = ROOT / ".peers"
NO_PEERS = (
    "the frameworks are not installed beside the project (make test brings them where packages can be had)"
)
EXAMPLES = ("langgraph_gate.py", "pydantic_ai_gate.py")


@pytest.fixture(autouse=True)
def peers() -> None:
    if not (PEERS / ".stamp").exists():
        pytest.skip(NO_PEERS)


class Example:
    """An example in processes of its own, with the ledger that its tool writes."""

    def __init__(self, file: str, server: Server, folder: Path) -> None:
        self._file = file
        self._house = server
        self.ledger_file = folder / "ledger.txt"
        self._folder = folder

    @property
    def ledger(self) -> list[str]:
        return self.ledger_file.read_text().splitlines() if self.ledger_file.exists() else []

    def begin(self, step: str, **more: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(PEERS / "bin" / "python"), str(ROOT / "examples" / self._file), step, str(self._folder)],
            env=self._house.variables(
                PYTHONPATH=f"{ROOT}/packages/core/src:{ROOT}/packages/wrap/src", **more
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def play(self, step: str) -> dict[str, Any]:
        process = self.begin(step)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err.decode()[-3_000:]
        answer: dict[str, Any] = json.loads(out)
        return answer


@pytest.fixture(params=EXAMPLES)
def example(request: pytest.FixtureRequest, server: Server, tmp_path: Path) -> Example:
    return Example(request.param, server, tmp_path)


def test_a_call_survives_the_end_of_its_agent_and_runs_once_as_a_person_edited_it(
    example: Example, server: Server
) -> None:
    (asked,) = example.play("start")["waiting"]
    action_id = server.one_waiting()
    assert asked["actionId"] == action_id
    assert asked["reviewUrl"].startswith(server.base_url)
    # To resume is no consent.
    assert [each["actionId"] for each in example.play("resume")["waiting"]] == [action_id]
    assert example.ledger == []
    server.approve(action_id, name="older")
    assert example.play("resume")["said"] == "The tool answered: deleted older"
    assert example.ledger == ["older"]
    stored = server.stored(action_id)
    assert (stored.status, stored.metadata["output"]) == ("executed", "deleted older")


def test_a_rejected_call_does_not_run_and_the_model_reads_why(example: Example, server: Server) -> None:
    example.play("start")
    server.reject(server.one_waiting(), "It is still used.")
    assert "“It is still used.”" in example.play("resume")["said"]
    assert example.ledger == []


@pytest.mark.parametrize("example", EXAMPLES if PROVE else EXAMPLES[:1], indirect=True)
def test_a_process_that_is_killed_after_its_claim_leaves_a_call_that_no_process_runs_again(
    example: Example, server: Server
) -> None:
    nowhere = example.begin("start", ASSENT_BASE_URL="http://127.0.0.1:1")
    assert nowhere.communicate(timeout=120)[0] == b""
    assert nowhere.returncode != 0
    example.play("start")
    action_id = server.one_waiting()
    server.approve(action_id)
    # The tool opens its ledger, a pipe without a reader, and hangs there.
    os.mkfifo(example.ledger_file)
    killed = example.begin("resume")
    eventually(lambda: server.stored(action_id).execution_state == "executing", "it is claimed", 60)
    killed.kill()
    killed.communicate()
    example.ledger_file.unlink()
    assert "Another process runs this call" in example.play("resume")["said"]
    server.end_leases()
    assert server.stored(action_id).execution_state == "outcome_unknown"
    assert example.ledger == []


def test_a_rewound_thread_neither_repeats_the_call_nor_reuses_its_approval(
    server: Server, tmp_path: Path
) -> None:
    example = Example("langgraph_gate.py", server, tmp_path)
    example.play("start")
    server.approve(server.one_waiting())
    example.play("resume")
    assert example.play("rewind")["said"] == "The tool answered: deleted old"
    assert example.ledger == ["old"]
    # The model asks again: a new call, a new question.
    (asked,) = example.play("start")["waiting"]
    assert asked["actionId"] == server.one_waiting()
    assert example.ledger == ["old"]
