"""The public pages and their routes: the start page, guides, texts for agents, getting a key, static files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assent.engine.core.offloading import run_apart
from assent.engine.core.services import Services
from assent.kernel.reasons import Reason, describe_reason
from assent.kernel.structs import Record
from assent.serving.discovery import write_instructions
from assent.serving.web.people.people import Cookies, find_session
from assent.serving.web.people.signup import SignupPages
from assent.serving.web.shell import clients
from assent.serving.web.shell.console import LOOK, LOOK_AND_SEND
from assent.serving.web.shell.errors_to_pages import make_routes
from assent.serving.web.shell.headers import ASSET_HEADERS, see_other, takes_gzip
from assent.serving.web.shell.markdown import render
from assent.serving.web.shell.problems import NOT_FOUND, PageRefused
from assent.serving.web.shell.rendering import CACHING, PREFIX, find_asset, pack_asset, page
from assent.tools.catalog import Catalog

# The guides for people and agents: one Markdown file each, with this server's address.

GUIDES: Final = ("quickstart", "closed-loop")
MEDIA_TYPE: Final = "text/markdown"
SUFFIX: Final = ".md"


class GuidePage(Record):
    title: str
    markdown: str
    html: Markup


@cache
def write_guide(name: str, base_url: str) -> GuidePage:
    """Fill in the address of the server, and render the text below its title."""
    source = Path(__file__).with_name("guides").joinpath(name + SUFFIX).read_text(encoding="utf-8")
    markdown = source.replace("{base_url}", base_url)
    heading, _, body = markdown.partition("\n")
    return GuidePage(heading.removeprefix("# "), markdown, Markup(render(body).html))  # noqa: S704 - cleaned


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
        ("/docs/{name}", LOOK, reading.guide),
        ("/get-key", LOOK_AND_SEND, signup.get_key),
        ("/claim/{token}", LOOK_AND_SEND, signup.claim),
        (PREFIX + "{name}", LOOK, serve_asset),
    )


async def serve_asset(request: Request) -> Response:
    asset = find_asset(request.url.path)
    if asset is None:
        raise PageRefused(NOT_FOUND)
    headers = {**ASSET_HEADERS, "Cache-Control": CACHING, "Vary": "Accept-Encoding"}
    packed = await run_apart(pack_asset, asset.path) if takes_gzip(request.scope) else None
    headers |= {"Content-Encoding": "gzip"} if packed is not None else {}
    return Response(asset.content if packed is None else packed, media_type=asset.media_type, headers=headers)


class ReadingPages:
    def __init__(self, services: Services, catalog: Catalog, base_url: str) -> None:
        self._services = services
        self._catalog = catalog
        self._base_url = base_url.rstrip("/")
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
                *clients.stdio_snippets(self._services, None),
            ),
            "placeholder_key": key,
            "signup_open": self._services.limits.signup_open,
        }
        return page(request, "home.html", values)

    async def guide(self, request: Request) -> Response:
        """Serve `/docs/NAME` as a page, or as Markdown with `.md` or `Accept: text/markdown`.

        The seeds name both guides in the documentation and give no address, so `/docs/` is our choice.
        """
        path = str(request.path_params["name"])
        name = path.removesuffix(SUFFIX)
        if name not in GUIDES or not self._catalog.words.has_guides:
            raise PageRefused(NOT_FOUND)
        guide = write_guide(name, self._base_url)
        headers = {"Vary": "Accept"}
        if path != name or MEDIA_TYPE in request.headers.get("accept", ""):
            return Response(guide.markdown, media_type=MEDIA_TYPE, headers={**ASSET_HEADERS, **headers})
        return page(
            request, "guide.html", {"guide": guide, "source": f"/docs/{name}{SUFFIX}"}, headers=headers
        )

    async def for_agents(self, request: Request) -> Response:
        signup_open = self._catalog.signup_open
        values = {
            "endpoint": clients.endpoint(self._base_url),
            "base_url": self._base_url,
            "instructions": write_instructions(self._catalog),
            "tools": self._catalog.tools,
            "reasons": [reason_row(reason, signup_open=signup_open) for reason in Reason],
            "signup_open": signup_open,
            "has_guides": self._catalog.words.has_guides,
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
