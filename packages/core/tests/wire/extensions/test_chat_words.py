"""The words of the chat about a stranger's function: it has arguments and is executed, not sent."""

from __future__ import annotations

from packages.core.tests.wire.extensions.test_refunds import RING
from tests.support.actions.kit import EDIT, PENDING, Gate
from tests.support.answers import calls_of


async def test_the_call_that_changes_a_function_asks_for_its_arguments(surface: Gate) -> None:
    answer = await surface.done(RING, times=1)
    pending = await surface.done(PENDING)
    (edit,) = [call for call in calls_of(pending) if call["name"] == EDIT]
    assert list(edit["needs"]) == ["arguments"]
    assert answer["actions"][0]["id"] == edit["args"]["actionId"]
