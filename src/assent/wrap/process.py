"""Wrapping in one process: the wrapped servers, their gateway and the connectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.routing import Route

    from assent.platform.services import Connector, Notifier, Services
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
