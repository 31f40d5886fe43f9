"""A stored answer is the key's that got it (E7, C12): whoever repeats another key's call is handed nothing of it."""

from __future__ import annotations

from typing import Any

import pytest
from packages.core.tests.wire.actions.test_idempotency import text
from tests.support.actions.kit import APPROVE, EXECUTE, STAGE, Gate
from tests.support.keys import rotate_key

from assent.engine.core import tenancy

ALL = tenancy.SCOPES


@pytest.mark.rule("E7", "E35")
async def test_a_repetition_with_another_key_is_refused_and_hands_over_no_link(surface: Gate) -> None:
    wanted = {"effects": [{}], "idempotencyKey": "monday"}
    first = await surface.call(STAGE, wanted)
    other = await surface.key_with("runs:write")

    answer = await surface.call(STAGE, wanted, key=other)

    assert (answer.reason, answer.payload["retryable"]) == ("idempotency_conflict", False)
    assert "token=" not in str(answer.message)
    assert len((await surface.done("chieflab_query_audit"))["actions"]) == 1
    assert text(await surface.call(STAGE, wanted)) == text(first)


@pytest.mark.rule("E7")
@pytest.mark.parametrize("tool", [STAGE, APPROVE, EXECUTE])
async def test_the_successor_of_a_rotated_key_gets_its_answers(surface: Gate, tool: str) -> None:
    key = await surface.key_with(*ALL)
    action_id = await (surface.approved() if tool == EXECUTE else surface.staged())
    about: dict[str, Any] = {"effects": [{}]} if tool == STAGE else {"actionId": action_id}
    call = {**about, "idempotencyKey": "monday"}
    first = await surface.call(tool, call, key=key)
    for _ in range(2):
        key = await rotate_key(surface.app, key) or ""
        surface.clock.advance(hours=1)
        assert text(await surface.call(tool, call, key=key)) == text(first)
