"""The words of the chat about a stranger's function: it has arguments and is executed, not sent."""

from __future__ import annotations

from tests.engine.actions.kit import EDIT, PENDING, Gate
from tests.extensions.test_refunds import RING


async def test_the_call_that_changes_a_function_asks_for_its_arguments(surface: Gate) -> None:
    answer = await surface.done(RING, times=1)
    (draft,) = answer["agentGuide"]["renderInChat"].values()
    pending = await surface.done(PENDING)
    (edit,) = [call for call in pending["next"] if call["name"] == EDIT]
    assert list(edit["needs"]) == ["arguments"]
    assert draft["actionId"] == edit["args"]["actionId"]
