"""The routes of all pages, in one table. Each passes the page edge."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assent.engine.core.services import Services
from assent.kernel.reasons import Reason, describe_reason
from assent.serving.instructions import instructions
from assent.serving.web.guides.pages import GuidePages
from assent.serving.web.people.people import Cookies, find_session
from assent.serving.web.people.signup import SignupPages
from assent.serving.web.shell import clients
from assent.serving.web.shell.console import LOOK, LOOK_AND_SEND
from assent.serving.web.shell.errors_to_pages import make_routes
from assent.serving.web.shell.headers import ASSET_HEADERS, see_other
from assent.serving.web.shell.problems import NOT_FOUND, PageRefused
from assent.serving.web.shell.rendering import CACHING, PREFIX, find_asset, page
from assent.tools.catalog import Catalog


def page_routes(
    services: Services, *, base_url: str, catalog: Catalog, bound_to: str, trust_proxy: bool = False
) -> list[Route]:
    """`bound_to` is the host on which this process listens."""
    signup = SignupPages(services, base_url=base_url, trust_proxy=trust_proxy, bound_to=bound_to)
    reading = ReadingPages(services, catalog, base_url)
    return make_routes(
        base_url,
        ("/", LOOK, reading.home),
        ("/for-agents", LOOK, reading.for_agents),
        ("/docs/{name}", LOOK, GuidePages(base_url).show),
        ("/get-key", LOOK_AND_SEND, signup.get_key),
        ("/claim/{token}", LOOK_AND_SEND, signup.claim),
        (PREFIX + "{name}", LOOK, serve_asset),
    )


async def serve_asset(request: Request) -> Response:
    asset = find_asset(request.url.path)
    if asset is None:
        raise PageRefused(NOT_FOUND)
    headers = {**ASSET_HEADERS, "Cache-Control": CACHING}
    return Response(asset.content, media_type=asset.media_type, headers=headers)


class ReadingPages:
    def __init__(self, services: Services, catalog: Catalog, base_url: str) -> None:
        self._services = services
        self._catalog = catalog
        self._base_url = base_url
        self._cookies = Cookies(base_url)

    async def home(self, request: Request) -> Response:
        """The product and how to sign in. A signed-in person is led to the inbox."""
        if await find_session(self._services, self._cookies, request) is not None:
            return see_other("/inbox")
        key = clients.PLACEHOLDER_KEY
        values = {
            "endpoint": clients.endpoint(self._base_url),
            "snippets": (
                *clients.http_snippets(self._base_url, key),
                clients.stdio_snippet(self._services, None),
            ),
            "placeholder_key": key,
            "signup_open": self._services.limits.signup_open,
        }
        return page(request, "home.html", values)

    async def for_agents(self, request: Request) -> Response:
        signup_open = self._catalog.signup_open
        values = {
            "endpoint": clients.endpoint(self._base_url),
            "base_url": self._base_url.rstrip("/"),
            "instructions": instructions(self._catalog.toolsets, signup_open=signup_open),
            "tools": self._catalog.tools,
            "reasons": [reason_row(reason, signup_open=signup_open) for reason in Reason],
            "signup_open": signup_open,
        }
        return page(request, "for_agents.html", values)


class _Blanks(dict[str, str]):
    """Placeholders for the message of a refusal that is only documented."""

    def __missing__(self, name: str) -> str:
        return "" if name == "suggestion" else "[…]"


def reason_row(reason: Reason, *, signup_open: bool) -> dict[str, Any]:
    meaning, blanks = describe_reason(reason, signup_open=signup_open), _Blanks()
    return {
        "reason": reason.value,
        "status": meaning.status,
        "retry": meaning.retry,
        "recovery_tool": meaning.recovery_tool,
        "summary": meaning.summary.format_map(blanks),
        "fix": meaning.fix.format_map(blanks),
        "stop_rule": meaning.stop_rule.format_map(blanks),
    }
