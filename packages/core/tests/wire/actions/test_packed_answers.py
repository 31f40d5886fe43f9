"""A stored answer is small and comes back byte for byte."""

from __future__ import annotations

import pytest
from tests.support.actions.kit import APPROVE, STAGE, Gate
from tests.support.own_sql import bind
from tests.support.surfaces import Outcome

from assent.engine.actions.idempotency import unpack
from assent.ports import Rows, Transaction

SMALLER = 2
"""How many times smaller than its text a usual answer is stored, at least."""


def read(surface: Gate) -> Transaction[Rows]:
    statement = "SELECT key, response FROM idempotency WHERE workspace_id = {}"
    return (yield bind(statement.format("?"), statement.format("$1"), surface.workspace_id))


async def staged(surface: Gate) -> Outcome:
    """Stage and approve with keys; the answer to the first."""
    staged = await surface.call(STAGE, {"effects": [{}], "idempotencyKey": "stage"})
    action_id = staged.payload["actions"][0]["id"]
    approved = await surface.call(APPROVE, {"actionId": action_id, "idempotencyKey": "approve"})
    assert not approved.is_error
    return staged


@pytest.mark.rule("E7")
async def test_usual_answers_are_stored_small_and_replayed_whole(surface: Gate) -> None:
    first = await staged(surface)
    again = await staged(surface)
    assert (again.payload, again.replay is not None) == (first.payload, True)
    rows = await surface.app.store.read(lambda: read(surface))
    texts = [unpack(row["response"]) for row in rows]
    assert sum(map(len, texts)) > SMALLER * sum(len(row["response"]) for row in rows)
