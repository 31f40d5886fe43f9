"""Asking again under the same key, and being refused, says nothing about what the first call did (C10, C30)."""

from __future__ import annotations

import pytest
from tests.suite.connectors.world import NOWHERE, Expected, World

from assent.kernel.refusals import Reason
from assent.testing.provider_server import Outcome

NO_CONNECTION = "no_connection"
UNKNOWN_DONE = Expected(Reason.OUTCOME_UNKNOWN, "approved", "outcome_unknown", 1)


@pytest.mark.parametrize(
    "refusal", [Outcome.REFUSE_401, Outcome.REFUSE_429, Outcome.REFUSE_403, NO_CONNECTION]
)
@pytest.mark.parametrize("kind", ["native_key", "natural_key"])
async def test_a_refused_repetition_says_nothing_about_the_first_send(
    world: World, kind: str, refusal: str
) -> None:
    """The effect is there; that asking again was refused must not open the way to a second one under a new key."""
    action_id = await world.approved(kind)
    world.emulator.plan(Outcome.ERROR_AFTER)
    await world.engine.execute(action_id)
    connector = world.connectors[kind]
    reachable = connector.url
    if refusal == NO_CONNECTION:
        connector.url = NOWHERE
    else:
        world.emulator.plan(Outcome(refusal))
    assert await world.engine.reconcile() == 1
    await world.meets(UNKNOWN_DONE, action_id)
    connector.url = reachable
    world.engine.clock.advance(seconds=11)
    assert await world.engine.run_jobs() == 1
    await world.ended(action_id)
