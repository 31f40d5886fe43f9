"""Makes the connectors of the suite from the parts of a process. Imports them all, which is slow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from assent.platform import Connector
from assent.sdk import Clock
from assent_launch.channels.registry import MODULES, rank_connector

if TYPE_CHECKING:
    from assent.sdk import Services
    from assent_launch.site.feed import Visits


class ConnectorParts:
    """The parts of a process that connectors are made from. `visits` counts the visitors of the sites."""

    def __init__(self, services: Services, settings: Mapping[str, Any], visits: Visits) -> None:
        self.services = services
        self.settings = settings
        self.visits = visits
        self.clock: Clock = services.clock
        self.connections = services.connections


def load_connectors(modules: Iterable[ModuleType] = MODULES) -> tuple[ModuleType, ...]:
    """Import the `connector.py` of each folder that describes connectors."""
    described = (module for module in modules if hasattr(module, "CONNECTORS"))
    return tuple(import_module(f"{module.__name__}.connector") for module in described)


def make_connectors(parts: ConnectorParts, modules: Iterable[ModuleType] = MODULES) -> tuple[Connector, ...]:
    """Return the connectors of one process, in the order of lists."""
    made: list[Connector] = [
        each for found in load_connectors(modules) for each in found.make_connectors(parts)
    ]
    return tuple(sorted(made, key=lambda each: rank_connector(each.id)))
