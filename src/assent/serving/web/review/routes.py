"""The routes of the review page, signing in and the console. Each passes the page edge."""

from __future__ import annotations

from starlette.routing import Route

from assent.engine.core.services import Services
from assent.serving.web.people.people import Cookies, KeysWhenReady
from assent.serving.web.people.sign_in import SignInPages
from assent.serving.web.review.page import ReviewPages
from assent.serving.web.shell.console import Console
from assent.serving.web.shell.edge import Endpoint, page_endpoint
from assent.serving.web.shell.live import Live, LivePages
from assent.serving.web.shell.pages import LOOK, LOOK_AND_SEND
from assent.serving.web.shell.picture_files import PicturePages
from assent.serving.web.shell.screens import SCREENS

SEND = ("POST",)


def review_routes(
    services: Services, keys: KeysWhenReady, live: Live, *, base_url: str, trust_proxy: bool = False
) -> list[Route]:
    cookies = Cookies(base_url)
    console = Console(services, keys, cookies, SCREENS, base_url=base_url)
    signing_in = SignInPages(
        services, keys, cookies, console.entries, base_url=base_url, trust_proxy=trust_proxy
    )
    review = ReviewPages(services, keys, cookies, console.entries, base_url=base_url)
    shown = PicturePages(services, keys, cookies)
    table: tuple[tuple[str, tuple[str, ...], Endpoint], ...] = (
        ("/runs/{run_id}", LOOK, review.run),
        ("/runs/{run_id}/actions/{action_id}/html", LOOK, review.html),
        ("/runs/{run_id}/actions/{action_id}/{decision}", LOOK_AND_SEND, review.decide),
        ("/runs/{run_id}/pictures/{name}", LOOK, shown.of_run),
        ("/runs/{run_id}/end-links", SEND, review.end_links),
        ("/sign-in", LOOK_AND_SEND, signing_in.how),
        ("/sign-in/{token}", LOOK_AND_SEND, signing_in.link),
        ("/sign-out", SEND, signing_in.sign_out),
        ("/events", LOOK, LivePages(services, cookies, live).events),
    )
    return [
        *(
            Route(path, page_endpoint(endpoint, base_url), methods=methods)
            for path, methods, endpoint in table
        ),
        *console.routes(),
    ]
