"""How often one link or one signed-in browser may ask for pages. Calls of the API are counted elsewhere.

Counted is who was recognised, so that nobody uses up another's share with a made-up cookie; in this process alone,
because looking writes nothing.
"""

from __future__ import annotations

from assent.engine import people
from assent.engine.people import Session
from assent.engine.services import Services
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.lifecycle.review_link import ReviewClaims
from assent.serving.web.review_access import Shown


class Pace:
    """Counts requests for pages; one too many is `rate_limited`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def of_session(self, session: Session) -> None:
        await self._count(f"session {session.session_id}")

    async def of_link(self, claims: ReviewClaims) -> None:
        await self._count(f"link {claims.run_id} {claims.exp}")

    async def of(self, shown: Shown) -> None:
        """Whoever shows this: the session where it is one, as for everything else, or the link."""
        if (secret := shown.session_secret) is not None:
            now_ms = self._services.clock.now_ms()
            session = await self._services.store.read(lambda: people.authenticate(secret, now_ms))
            if session is not None:
                await self.of_session(session)
                return
        if shown.claims is not None:
            await self.of_link(shown.claims)

    async def _count(self, who: str) -> None:
        services = self._services
        await services.page_limiter.count(services.pages, SYSTEM_WORKSPACE, who, services.clock.now_ms())
