"""Wrapping in one process: its connectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.routing import Route

    from assent.platform.connections import Connector
    from assent.platform.people import Notifier
    from assent.platform.storage import Services


class Wrapping:
    """Made once per process; each part at its first use."""

    def __init__(self, services: Services, settings: Mapping[str, Any]) -> None:
        self._services = services
        self._settings = settings

    def make_connectors(self) -> Iterable[Connector]:
        return ()

    def make_notifiers(self) -> Iterable[Notifier]:
        return ()

    def make_routes(self, *, base_url: str, trust_proxy: bool) -> list[Route]:
        return []

    def preload(self) -> None:
        return None

    async def close(self) -> None:
        return None
