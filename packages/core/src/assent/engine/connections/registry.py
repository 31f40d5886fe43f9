"""Registers connectors, and refuses one that does not declare what happens when a send is repeated (C30).

Every server has `manual`: a person publishes by hand, from a brief, and records the URL. It never performs, so nothing
is reported as published that no person published (E94, E98).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assent.gate.effects import BY_HAND
from assent.gate.preflight import Readiness
from assent.gate.records import Effect
from assent.kernel.ids import WorkspaceId
from assent.ports import Connector, Context, Delivered, Delivery, NoLookUp, NotConnected, action_of


class RegistrationRefused(ValueError):  # noqa: N818 - what happened
    """A connector cannot be registered; the message names it and the reason."""


def register(connectors: Iterable[Connector]) -> dict[str, Connector]:
    """Return the connectors by id. Refuses a missing id or delivery, and duplicate ids."""
    taken: dict[str, Connector] = {}
    for connector in connectors:
        name = getattr(connector, "id", None)
        if not isinstance(name, str) or not name:
            raise RegistrationRefused(f"{type(connector).__name__} has no id")
        if not isinstance(getattr(connector, "delivery", None), Delivery):
            raise RegistrationRefused(
                f"connector {name} does not declare its delivery: native_key, natural_key, read_back or none"
            )
        if name in taken:
            raise RegistrationRefused(f"two connectors are called {name}")
        taken[name] = connector
    return taken


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
        raise NotConnected(BY_A_PERSON)
