"""A connector is asked whether it is ready before an action is claimed for it, and only where it has to be asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.actions.fixtures import gate_over
from tests.support.actions.kit import EXECUTE, Gate
from tests.support.actions.provider import DELIVERIES, Provider

from assent.gate.preflight import Readiness
from assent.kernel.ids import WorkspaceId
from assent.ports import Delivery


@dataclass
class Counting(Provider):
    """Counts how often it is asked."""

    always_ready: bool = False
    asked: int = 0

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        self.asked += 1
        return self.ready


async def gate_with(provider: Provider, database_url: str, tmp_path: Path) -> Gate:
    gate = gate_over(database_url, tmp_path, "http", {provider.id: provider})
    await gate.sign_in()
    return gate


def counting(*, always_ready: bool) -> Counting:
    delivery: Delivery = DELIVERIES["native"]
    return Counting(id="native", delivery=delivery, always_ready=always_ready)


@pytest.mark.parametrize(("always_ready", "times"), [(False, 1), (True, 0)])
async def test_a_connector_is_asked_once_before_a_claim_unless_it_is_always_ready(
    database_url: str, tmp_path: Path, always_ready: bool, times: int
) -> None:
    provider = counting(always_ready=always_ready)
    gate = await gate_with(provider, database_url, tmp_path)
    try:
        action_id = await gate.approved()
        provider.asked = 0
        await gate.done(EXECUTE, actionId=action_id, idempotencyKey="once")
        await gate.done(EXECUTE, actionId=action_id, idempotencyKey="once")
    finally:
        await gate.close()
    assert (provider.asked, len(provider.ledger)) == (times, 1)
