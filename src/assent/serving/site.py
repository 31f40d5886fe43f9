"""Assembles the HTTP surface: MCP, REST, documents, pages, health checks and metrics."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from assent import __version__
from assent.engine.audit import boundary
from assent.ports import StoreUnavailable
from assent.serving.discovery import Documents
from assent.serving.edge import Edge, answer_refusal, unavailable_refusal
from assent.serving.http import AllowedPeers, Guard, McpEndpoint, RestEndpoint
from assent.serving.mcp import McpServer
from assent.serving.metrics import MEDIA_TYPE, may_read, write_metrics
from assent.serving.store_check import StoreCheck
from assent.serving.web.shell.problems import http_problem
from assent.workflow.definition.schema import SCHEMA_PATH, definition_schema

log = logging.getLogger("assent.site")

MCP_PATHS: Final = ("/api/mcp", "/api/mcp/", "/mcp", "/mcp/")
DAY_CACHE: Final = {"Cache-Control": "public, max-age=300"}


def build_site(
    edge: Edge,
    messages: McpServer,
    documents: Documents,
    pages: list[BaseRoute],
    *,
    peers: AllowedPeers,
    trust_proxy: bool,
    base_url: str,
    metrics_key: str | None = None,
    draining: Callable[[], bool] = lambda: False,
    lost: Callable[[Request, Exception], Awaitable[Response]] = http_problem,
) -> ASGIApp:
    """Build the ASGI app. Its only state is the counters of `/metrics` and the last check of `/readyz`.
    `draining` returns whether this process is about to stop and wants no new connections. `lost` answers
    unknown addresses."""
    counts: Counter[tuple[str, str]] = Counter()
    store = StoreCheck(edge.services)

    async def metadata() -> bytes:
        try:
            claims = await edge.services.store.read(boundary.describe_claims)
        except StoreUnavailable:
            claims = None
        return documents.metadata(claims)

    mcp = McpEndpoint(messages, metadata, trust_proxy=trust_proxy)

    async def readyz(request: Request) -> Response:
        if draining():
            return JSONResponse({"ok": False, "draining": True}, 503, {"Retry-After": "1"})
        try:
            await store.check()
        except StoreUnavailable as error:
            log.warning("not ready: %s", error)
            answer = answer_refusal(unavailable_refusal())
            return JSONResponse(answer.value, 503, {"Retry-After": str(answer.retry_after_seconds)})
        return JSONResponse({"ok": True})

    async def metrics(request: Request) -> Response:
        if not may_read(request.headers.get("authorization", ""), metrics_key, base_url):
            return PlainTextResponse("The metrics need the key of ASSENT_METRICS_KEY.\n", 401)
        return PlainTextResponse(await write_metrics(edge, counts), media_type=MEDIA_TYPE)

    routes: list[BaseRoute] = [
        *(Route(path, mcp, methods=["GET", "POST", "DELETE", "PUT", "PATCH"]) for path in MCP_PATHS),
        Route("/api/tools/{name}", RestEndpoint(edge, trust_proxy=trust_proxy)),
        Route("/.well-known/mcp.json", _document(metadata, "application/json")),
        Route("/openapi.json", _document(_ready(lambda: documents.openapi), "application/json")),
        Route(SCHEMA_PATH, _document(_ready(definition_schema), "application/schema+json")),
        Route("/llms.txt", _document(_ready(lambda: documents.llms), "text/plain; charset=utf-8")),
        Route("/llms-full.txt", _document(_ready(lambda: documents.llms_full), "text/plain; charset=utf-8")),
        Route("/healthz", _healthz),
        Route("/readyz", readyz),
        Route("/metrics", metrics),
        *pages,
    ]
    site = Starlette(
        routes=routes, exception_handlers={404: lost, 405: http_problem, Exception: _answer_crash}
    )
    site.router.redirect_slashes = False
    return Guard(site, peers=peers, counts=counts, draining=draining)


def _ready(make: Callable[[], bytes]) -> Callable[[], Awaitable[bytes]]:
    async def give() -> bytes:
        return make()

    return give


def _document(
    make: Callable[[], Awaitable[bytes]], media_type: str
) -> Callable[[Request], Awaitable[Response]]:
    async def send(request: Request) -> Response:
        return Response(await make(), media_type=media_type, headers=DAY_CACHE)

    return send


async def _healthz(request: Request) -> Response:
    return JSONResponse({"ok": True, "version": __version__})


async def _answer_crash(request: Request, error: Exception) -> Response:
    # The response carries the request id; the log has the details.
    return JSONResponse({"error": "The server made a mistake; its log has the details."}, 500)
