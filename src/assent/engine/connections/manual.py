"""`manual`: a person publishes by hand, from a brief, and records the URL.

It never performs, so nothing is reported as published that no person published (E94, E98).
"""

from __future__ import annotations

from typing import Final

from assent.engine.connections.approved import NoLookUp, action_of
from assent.gate.effects import BY_HAND
from assent.gate.preflight import Readiness
from assent.gate.records import Effect
from assent.kernel.ids import WorkspaceId
from assent.net.http_outcomes import not_connected
from assent.ports import Context, Delivered, Delivery

BY_A_PERSON: Final = "This channel is published by hand; only a human can do that."


class ManualConnector(NoLookUp):
    info = BY_HAND
    id = BY_HAND.id
    delivery = Delivery("none")
    no_look_up = "only the human who published it can say"

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return Readiness(ready=True)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action_of(ctx, effect)
        raise not_connected(BY_A_PERSON)
