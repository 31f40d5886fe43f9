"""Registers connectors, and refuses one that does not declare what happens when a send is repeated
(C30)."""

from __future__ import annotations

from collections.abc import Iterable

from assent.ports import Connector, Delivery


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
