"""What the pages of a server share: its secrets, cookies and nonces, and their rate limits per review link, session
or address. API calls are counted elsewhere.

Only verified credentials are counted, so that a forged cookie cannot use up another person's limit.
Counts are per process, because viewing writes nothing.
"""

from __future__ import annotations

from starlette.types import Scope

from assent.engine.core.rate import public_pages_window
from assent.engine.core.services import Services
from assent.engine.people import people
from assent.engine.people.people import Session
from assent.gate.review_link import ReviewClaims
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.serving.http import client_address
from assent.serving.web.people.people import Cookies, KeysWhenReady
from assent.serving.web.review.access import PresentedAccess
from assent.serving.web.shell.forms import FormNonces
from assent.serving.web.shell.times import read_in


class PageRate:
    """Counts page requests. Raises `rate_limited` above the limit."""

    def __init__(self, services: Services, *, trust_proxy: bool = False) -> None:
        self._services = services
        self._trust_proxy = trust_proxy

    async def count_session(self, session: Session) -> None:
        """Count a signed-in person, who reads the times of this page in their zone."""
        read_in(session.person.zone)
        await self._count(f"session {session.session_id}")

    async def count_link(self, claims: ReviewClaims) -> None:
        await self._count(f"link {claims.run_id} {claims.exp}")

    async def count_stranger(self, scope: Scope) -> None:
        """Count a visitor of a sign-in page, by address."""
        await self._count(f"address {client_address(scope, trust_proxy=self._trust_proxy)}")

    async def count_reader(self, scope: Scope) -> None:
        """Count a request of a public page, whose limit is higher for shared addresses."""
        services, address = self._services, client_address(scope, trust_proxy=self._trust_proxy)
        window = public_pages_window(services.limits.pages.most)
        await services.limits.page_limiter.count(
            window, SYSTEM_WORKSPACE, f"reader {address}", services.clock.now_ms()
        )

    async def count(self, shown: PresentedAccess) -> None:
        """Count by session if it is valid, else by link."""
        if (secret := shown.session_secret) is not None:
            now_ms = self._services.clock.now_ms()
            session = await self._services.store.read(lambda: people.authenticate(secret, now_ms))
            if session is not None:
                await self.count_session(session)
                return
        if shown.claims is not None:
            await self.count_link(shown.claims)

    async def _count(self, who: str) -> None:
        services = self._services
        await services.limits.page_limiter.count(
            services.limits.pages, SYSTEM_WORKSPACE, who, services.clock.now_ms()
        )


class PageSite(PageRate):
    """The server at one address, as its pages know it."""

    def __init__(
        self, services: Services, keys: KeysWhenReady, *, base_url: str, trust_proxy: bool = False
    ) -> None:
        super().__init__(services, trust_proxy=trust_proxy)
        self.services = services
        self.keys = keys
        self.base_url = base_url
        self.cookies = Cookies(base_url)
        self.trusts_proxy = trust_proxy

    async def nonces(self) -> FormNonces:
        return FormNonces((await self.keys()).forms, self.services.entropy, base_url=self.base_url)
