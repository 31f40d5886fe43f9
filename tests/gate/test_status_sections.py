"""Every state of an action is in its section of the status, and in no other."""

from __future__ import annotations

import pytest
from tests.gate.kit import STATES, Gate

pytestmark = pytest.mark.anyio

HOME = {
    "awaiting_approval": "waiting",
    "approved": "approvedNotSent",
    "executing": "approvedNotSent",
    "outcome_unknown": "unknown",
    "retryable": "approvedNotSent",
    "rejected": None,
    "executed": "wentOut",
    "failed": "failed",
}


async def test_every_state_has_one_section_with_a_reason(surface: Gate) -> None:
    brought = {state: await surface.bring_to(state) for state in STATES}

    told = await surface.done("chieflab_status")

    sections = ("wentOut", "approvedNotSent", "waiting", "byHand", "failed", "unknown")
    found = {entry["actionId"]: section for section in sections for entry in told[section]}
    assert found == {brought[state]: home for state, home in HOME.items() if home is not None}
    why = {entry["actionId"]: entry.get("why", "") for section in sections for entry in told[section]}
    for state in ("approved", "executing", "outcome_unknown", "retryable", "failed"):
        assert why[brought[state]], state
    assert told["next"][0]["args"] == {"actionId": brought["outcome_unknown"]}
    assert told["counts"]["approvedNotSent"] == 3
