"""The model of an action's life (`models/action.pml`) holds, and every broken design in it is caught."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assent.gate.transitions import STATES, TABLE, Move, State

pytestmark = [pytest.mark.slow, pytest.mark.rule("E29", "E10")]

MODEL = Path(__file__).parents[5] / "models" / "action.pml"
MISSING = "Spin or gcc is not installed, so the model was not checked (Debian: apt-get install spin gcc)"
HELP = ("NATIVE_KEY", "READ_BACK", "NO_HELP")
BROKEN = {
    "RETRY_THROUGH_APPROVED": "NO_HELP",
    "CHECK_THEN_SET": "READ_BACK",
    "BLIND_RETRY": "READ_BACK",
    "APPROVAL_WITHOUT_DIGEST": "NO_HELP",
    "EDIT_KEEPS_APPROVAL": "NO_HELP",
    "UNLEASED_REPETITION": "NATIVE_KEY",
    "UNMARKED": "READ_BACK RESTORED",
}
"""Each broken design, with the help from a provider under which it is shown."""


def check(directory: Path, *switches: str) -> str:
    """What the verifier says about a variant."""
    if shutil.which("spin") is None or shutil.which("gcc") is None:
        pytest.skip(MISSING)
    for command in (
        ["spin", "-a", *(f"-D{switch}" for switch in switches), str(MODEL)],
        ["gcc", "-O1", "-w", "-DSAFETY", "-o", "pan", "pan.c"],
    ):
        subprocess.run(command, cwd=directory, check=True, capture_output=True, timeout=120)
    done = subprocess.run(
        ["./pan", "-m20000"], cwd=directory, check=False, capture_output=True, text=True, timeout=300
    )
    assert "search depth too small" not in done.stdout
    return done.stdout


@pytest.mark.parametrize("help_given", ["NATIVE_KEY", "READ_BACK"])
def test_what_was_sent_after_a_backup_is_not_sent_again_after_its_restore(
    tmp_path: Path, help_given: str
) -> None:
    report = check(tmp_path, help_given, "RESTORED")
    assert errors_in(report) == 0, report


def errors_in(report: str) -> int:
    found = re.search(r"errors: (\d+)", report)
    assert found is not None, report
    return int(found[1])


@pytest.mark.parametrize("help_given", HELP)
def test_the_model_keeps_its_promises_in_every_order_of_events(tmp_path: Path, help_given: str) -> None:
    report = check(tmp_path, help_given)
    assert errors_in(report) == 0, report
    stored = re.search(r"(\d+) states, stored", report)
    assert stored is not None
    assert int(stored[1]) > 100_000, "a model in which little can happen proves little"


@pytest.mark.parametrize("design", BROKEN)
def test_every_broken_design_is_caught(tmp_path: Path, design: str) -> None:
    report = check(tmp_path, *BROKEN[design].split(), design)
    assert errors_in(report) > 0
    assert "assertion violated" in report


def test_the_model_knows_the_states_of_the_server_and_no_other_moves() -> None:
    """Every move of the model is a move of the table, and the states have the same names."""
    text = MODEL.read_text()
    words = {"awaiting": "awaiting_approval", "unknown": "outcome_unknown"}
    states = {(state.status.value, state.execution.value): state for state in STATES}
    reached: set[State] = set()
    for status, execution in re.findall(r"move\((\w+), (\w+)\)", text):
        if (status, execution) != ("s", "e"):
            reached.add(states[words.get(status, status), words.get(execution, execution)])
    assert reached == set(STATES)
    assert {end for (_, move), end in TABLE.items() if move is not Move.HAND_OVER} == set(STATES)
