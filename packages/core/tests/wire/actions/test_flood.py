"""A flood of proposals by one key is one question for people: nothing is lost, and the agent is told to stop."""

from __future__ import annotations

import pytest
from tests.support.actions.kit import APPROVE, EXECUTE, PENDING, REJECT, Gate
from tests.support.answers import text_of

from assent.kernel.limits import FLOOD_WINDOW_MS
from assent.present.guidance import HELD, STOP_PROPOSING

LIMIT = 3
few = pytest.mark.parametrize("changed_settings", [{"held_after": LIMIT}], indirect=True)


@few
async def test_what_a_key_proposes_beyond_the_limit_is_staged_and_held_and_says_so(surface: Gate) -> None:
    before = [await surface.run({"body": f"Text {number}"}) for number in range(LIMIT)]
    after = await surface.run({"body": "One more"}, {"body": "And one more"})

    assert [run for run in before if "held" in run] == []
    assert after["held"] is True and HELD in text_of(after)
    assert after["stopRule"] == after["agentGuide"]["stopRule"] == STOP_PROPOSING
    assert len(after["actions"]) == 2
    assert len((await surface.done(PENDING))["actions"]) == LIMIT + 2
    # Holding decides nothing: one that a person looked at is decided like any other.
    held = after["actions"][0]["id"]
    await surface.done(APPROVE, actionId=held)
    assert (await surface.done(EXECUTE, actionId=held))["status"] == "executed"


@few
async def test_only_what_waits_in_the_window_of_the_same_key_counts(surface: Gate) -> None:
    runs = [await surface.run({"body": f"Text {number}"}) for number in range(LIMIT)]
    other = await surface.key_with("runs:write", "runs:read")
    assert "held" not in await surface.run({"body": "By another key"}, key=other)
    await surface.done(REJECT, actionId=runs[0]["actions"][0]["id"], reason="no")
    assert "held" not in await surface.run({"body": "In its place"})
    assert "held" in await surface.run({"body": "One too many"})
    surface.clock.advance(seconds=FLOOD_WINDOW_MS // 1000 + 1)
    assert "held" not in await surface.run({"body": "Later"})


@few
async def test_a_run_with_many_actions_is_one_question_already(surface: Gate) -> None:
    run = await surface.run(*({"body": f"Text {number}"} for number in range(LIMIT + 3)))
    assert "held" not in run
    assert "held" in await surface.run({"body": "The next one"})
