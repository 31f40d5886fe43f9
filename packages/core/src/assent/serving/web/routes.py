"""The routes of the review page, signing in and all screens of the console. Each passes the page edge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assent.engine.core.services import Services
from assent.serving.web import operations as operations_screens
from assent.serving.web import runs as runs_screens
from assent.serving.web import search as search_screen
from assent.serving.web import stopping as stop_screens
from assent.serving.web.audit import screens as audit_screens
from assent.serving.web.connections import consent as connect_consent
from assent.serving.web.connections import screens as connect_screens
from assent.serving.web.inbox import batch as batch_screen
from assent.serving.web.inbox import plan as plan_screen
from assent.serving.web.inbox import screen as inbox_screen
from assent.serving.web.people import screens as people_screens
from assent.serving.web.people.oidc import CALLBACK, START, OidcPages, OidcSignIn
from assent.serving.web.people.people import KeysWhenReady
from assent.serving.web.people.sign_in import SignInPages
from assent.serving.web.review.page import ReviewPages
from assent.serving.web.sessions import screens as sessions_screens
from assent.serving.web.settings import outgoing as outgoing_screens
from assent.serving.web.settings import policy as policy_screen
from assent.serving.web.settings import screens as settings_screens
from assent.serving.web.settings import workspace as workspace_screens
from assent.serving.web.shell.console import LOOK, LOOK_AND_SEND, SEND, Console, Screen
from assent.serving.web.shell.errors_to_pages import make_routes, page_endpoint
from assent.serving.web.shell.live import Live, LivePages
from assent.serving.web.shell.page_site import PageSite
from assent.serving.web.shell.picture_files import PicturePages
from assent.serving.web.shell.problems import LOST, http_problem

SCREENS: Final = (
    *inbox_screen.SCREENS,
    *batch_screen.SCREENS,
    *plan_screen.SCREENS,
    *search_screen.SCREENS,
    *runs_screens.SCREENS,
    *sessions_screens.SCREENS,
    *operations_screens.SCREENS,
    *connect_screens.SCREENS,
    *connect_consent.SCREENS,
    *audit_screens.SCREENS,
    *settings_screens.SCREENS,
    *people_screens.SCREENS,
    *policy_screen.SCREENS,
    *workspace_screens.SCREENS,
    *outgoing_screens.SCREENS,
    *stop_screens.SCREENS,
)


def answer_lost(
    services: Services, keys: KeysWhenReady, *, base_url: str, added: tuple[Screen, ...]
) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Answer an unknown address. A signed-in person keeps the navigation."""
    console = Console(PageSite(services, keys, base_url=base_url), (*SCREENS, *added))

    async def show_framed(request: Request) -> Response:
        return (await console.visit(request, "")).problem(LOST)

    framed = page_endpoint(show_framed, base_url)

    async def answer(request: Request, error: Exception) -> Response:
        if "text/html" in request.headers.get("accept", ""):
            response = await framed(request)
            if response.status_code == LOST.status:
                return response
        return await http_problem(request, error)

    return answer


def review_routes(
    services: Services,
    keys: KeysWhenReady,
    live: Live,
    *,
    base_url: str,
    trust_proxy: bool = False,
    oidc: OidcSignIn | None = None,
    added: tuple[Screen, ...],
) -> list[Route]:
    """`added` are the screens of extensions."""
    site = PageSite(services, keys, base_url=base_url, trust_proxy=trust_proxy)
    console = Console(site, (*SCREENS, *added))
    signing_in = SignInPages(site, oidc.issuer.client.name if oidc is not None else "")
    with_issuer = []
    if oidc is not None:
        pages = OidcPages(site, oidc)
        with_issuer = [(START, LOOK, pages.start), (CALLBACK, LOOK, pages.callback)]
    review, shown = ReviewPages(site, added), PicturePages(site)
    routes = make_routes(
        base_url,
        ("/runs/{run_id}", LOOK, review.run),
        ("/runs/{run_id}/actions/{action_id}/html", LOOK, review.html),
        ("/runs/{run_id}/actions/{action_id}/{decision}", LOOK_AND_SEND, review.decide),
        ("/runs/{run_id}/pictures/{name}", LOOK, shown.of_run),
        ("/runs/{run_id}/end-links", SEND, review.end_links),
        ("/sign-in", LOOK_AND_SEND, signing_in.how),
        *with_issuer,
        ("/sign-in/passkey", SEND, signing_in.passkey),
        ("/sign-in/{token}", LOOK_AND_SEND, signing_in.link),
        ("/sign-out", SEND, signing_in.sign_out),
        ("/events", LOOK, LivePages(site, live).events),
    )
    return [*routes, *console.routes()]
