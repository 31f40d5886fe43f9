"""Everything that wrapping offers to the server, as one extension. Loaded by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from assent.platform.declarations import MissingExtra
from assent.platform.values import ConnectorInfo, EffectType

if TYPE_CHECKING:
    from starlette.routing import Route

    from assent.platform.declarations import Component
    from assent.platform.services import Connector, Notifier, Services
    from assent.platform.tools import Tool
    from assent.wrap.gateway import Gateway


class Wrapping:
    """Made once per process; each part at its first use."""

    def __init__(self, services: Services, settings: Mapping[str, Any]) -> None:
        self._services = services
        self._settings = settings

    @cached_property
    def gateway(self) -> Gateway:
        from assent.wrap.gateway import Gateway

        return Gateway(self._services, self._settings)

    def make_connectors(self) -> Iterable[Connector]:
        from assent.wrap.agent_calls import AgentConnector
        from assent.wrap.connector import make_connectors
        from assent.wrap.effects import CONNECTORS

        infos = {each.id: each for each in CONNECTORS}
        wrapped = make_connectors(self._services, self.gateway.upstreams, self.gateway.pace, infos)
        return (*wrapped, AgentConnector(self._settings))

    def make_notifiers(self) -> Iterable[Notifier]:
        return ()

    def make_routes(self, *, base_url: str, trust_proxy: bool) -> list[Route]:
        return []

    def preload(self) -> None:
        return None

    async def close(self) -> None:
        """End the wrapped servers."""
        if "gateway" in vars(self):
            await self.gateway.close()


def list_tools() -> tuple[Tool, ...]:
    from assent.wrap import agent_calls

    return agent_calls.TOOLS


def list_operators() -> tuple[Any, ...]:
    """Wrapped tools are no operators of the contract."""
    return ()


def list_missing_extras() -> tuple[MissingExtra, ...]:
    return ()


def list_types() -> Iterable[EffectType]:
    return ()


def list_families() -> Iterable[EffectType]:
    from assent.wrap.agent_calls import FAMILY
    from assent.wrap.effects import ACCEPT_FAMILY, CALL_FAMILY

    return CALL_FAMILY, ACCEPT_FAMILY, FAMILY


def list_connectors() -> Iterable[ConnectorInfo]:
    """None is listed: a person does not connect a wrapped server to an account."""
    return ()


def list_components() -> tuple[Component, ...]:
    from assent.wrap.component import COMPONENT

    return (COMPONENT,)


def start(services: Services, settings: Mapping[str, Any]) -> Wrapping:
    return Wrapping(services, settings)
