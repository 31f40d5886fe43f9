"""`manual`: a person publishes by hand, from a brief, and records the URL.

It never performs, so nothing is reported as published that no person published (E94, E98).
"""

from __future__ import annotations

from typing import Final

from assent.gate.gate import ApprovedAction
from assent.gate.preflight import Readiness
from assent.kernel.ids import WorkspaceId
from assent.ports import Delivered, Delivery
from assent.suite.connectors.approved import NoLookUp, action_of
from assent.suite.connectors.http_outcomes import not_connected

BY_HAND: Final = "This channel is published by hand; only a human can do that."


class ManualConnector(NoLookUp):
    id = "manual"
    delivery = Delivery("none")
    no_look_up = "only the human who published it can say"

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return Readiness(ready=True)

    async def perform(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered:
        action_of(approved)
        raise not_connected(BY_HAND)
