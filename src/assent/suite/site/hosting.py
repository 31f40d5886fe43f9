"""Serves the sites of all workspaces in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.suite.site.feed import Visits

if TYPE_CHECKING:
    from starlette.routing import Route

    from assent.platform.storage import Services


class Site:
    """The pages of the sites, with the visits that this process counts."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.visits = Visits(services.store, services.clock)

    def routes(self, *, base_url: str, trust_proxy: bool) -> list[Route]:
        from assent.suite.site.pages import feed_routes

        return feed_routes(self._services, self.visits, base_url=base_url, trust_proxy=trust_proxy)

    async def close(self) -> None:
        """Store the counts that are still buffered."""
        await self.visits.close()
