"""Entry point of all page requests. Turns exceptions into pages.

The counterpart of `serving.edge` for people: accepts own forms only, words refusals for a person,
logs any other error under the request id and answers without internals.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assent.kernel.refusals import Refusal
from assent.ports import StoreUnavailable
from assent.serving.edge import UNAVAILABLE_RETRY_SECONDS
from assent.serving.web.shell.forms import path_of, require_own_form
from assent.serving.web.shell.headers import PageResponse, see_other
from assent.serving.web.shell.problems import (
    UNAVAILABLE,
    AnswerInstead,
    PageRefused,
    fault,
    refusal_page,
    show,
)
from assent.serving.web.shell.times import read_in

Endpoint = Callable[[Request], Awaitable[Response]]

PageRoute = tuple[str, tuple[str, ...], Endpoint]
"""The path, the methods and the endpoint of a page."""

log = logging.getLogger("assent.web")


def make_routes(base_url: str, *table: PageRoute) -> list[Route]:
    return [
        Route(path, page_endpoint(endpoint, base_url), methods=methods) for path, methods, endpoint in table
    ]


def lead_to_name(request: Request, base_url: str) -> Response | None:
    """Redirect a browser that opens a page at a loopback address to the same page on `localhost`,
    where its keys are. Programs are served at either."""
    base = urlsplit(base_url)
    addresses = (f"127.0.0.1:{base.port}", f"[::1]:{base.port}")
    opened = request.headers.get("sec-fetch-mode") == "navigate"
    if not opened or base.hostname != "localhost" or request.headers.get("host") not in addresses:
        return None
    return see_other(base_url.rstrip("/") + path_of(request))


def page_endpoint(endpoint: Endpoint, base_url: str) -> Endpoint:
    """Wrap an endpoint in the page edge. Every page is registered through it."""

    async def answer(request: Request) -> Response:
        read_in("")
        try:
            if request.method == "POST":
                require_own_form(request, base_url)
            elif elsewhere := lead_to_name(request, base_url):
                return elsewhere
            try:
                response = await endpoint(request)
            except AnswerInstead as instead:
                response = instead.response
            if isinstance(response, PageResponse):
                await response.finish()
            return response
        except PageRefused as refused:
            return show(request, refused.problem)
        except Refusal as refusal:
            return refusal_page(request, refusal)
        except StoreUnavailable as unavailable:
            log.error("store unavailable: %s", unavailable)
            return show(request, UNAVAILABLE, {"Retry-After": str(UNAVAILABLE_RETRY_SECONDS)})
        except HTTPException:
            raise
        except Exception:
            log.exception("%s %s failed", request.method, request.url.path)
            return show(request, fault(request))

    return answer
