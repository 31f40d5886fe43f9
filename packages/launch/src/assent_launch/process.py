"""The suite in one process: its connectors, notifiers and pages, and the services of its tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from assent.sdk import ExtensionProcess, Principal, RunId, Services
from assent_launch import NAME

if TYPE_CHECKING:
    from starlette.routing import Route

    from assent.platform import Connector
    from assent_launch.drafting import Drafting
    from assent_launch.site.feed import Visits


class Suite(ExtensionProcess):
    """Made once per process; each part at its first use."""

    def __init__(self, services: Services, settings: Mapping[str, Any]) -> None:
        self._services = services
        self._settings = settings
        self._connectors: tuple[Connector, ...] = ()
        self._owner: Suite | None = None

    def with_settings(self, settings: Mapping[str, Any]) -> Suite:
        """Return the suite of other workspaces. The visits stay one: they are counted in memory."""
        other = Suite(self._services, settings)
        other._owner = self
        return other

    @cached_property
    def visits(self) -> Visits:
        """The visits of the public sites that this process counts."""
        if self._owner is not None:
            return self._owner.visits
        from assent_launch.site.feed import Visits

        return Visits(self._services.store, self._services.clock)

    @cached_property
    def drafting(self) -> Drafting:
        from assent_launch.drafting import make_drafting

        return make_drafting(self._settings)

    def make_connectors(self) -> Iterable[Connector]:
        from assent_launch.channels.factory import ConnectorParts, make_connectors

        parts = ConnectorParts(self._services, self._settings, self.visits)
        self._connectors = make_connectors(parts)
        return self._connectors

    def make_routes(self, *, base_url: str, trust_proxy: bool) -> list[Route]:
        from assent_launch.site.pages import feed_routes

        return feed_routes(self._services, self.visits, base_url=base_url, trust_proxy=trust_proxy)

    async def prepare_sample(self, principal: Principal) -> RunId:
        """Prepare one page for the workspace's own site."""
        from assent_launch.sample import prepare

        return await prepare(self._services.for_workspace(principal.workspace_id), principal)

    def preload(self) -> None:
        """Import every connector and the types of every channel."""
        from assent_launch.channels.factory import load_connectors
        from assent_launch.effect_types import effect_types

        load_connectors()
        tuple(effect_types())

    async def close(self) -> None:
        """Wait for the token renewals in flight, and store the counted visits."""
        if self._connectors:
            from assent.platform import OAuthAccess

            for each in self._connectors:
                if isinstance(access := getattr(each, "access", None), OAuthAccess):
                    await access.finish()
        if "visits" in vars(self) and self._owner is None:
            await self.visits.close()


def find_suite(services: Services) -> Suite:
    """Return the suite of the process that runs a tool."""
    suite = services.extensions()[NAME]
    if not isinstance(suite, Suite):
        raise TypeError(f"this process runs {type(suite).__name__} instead of the suite")
    return suite
