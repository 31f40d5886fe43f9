"""Assembles the HTTP surface: MCP, REST, documents, pages, health checks and metrics."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Scope

from assent import __version__
from assent.engine.audit import boundary
from assent.engine.core.services import Services
from assent.engine.core.tenancy import Principal
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.ports import Single, StoreUnavailable
from assent.serving.discovery import Documents
from assent.serving.edge import Edge, answer_refusal, unavailable_refusal
from assent.serving.http import AllowedPeers, Guard, McpEndpoint, RestEndpoint, credentials_in, read_headers
from assent.serving.mcp import McpServer
from assent.serving.metrics import MEDIA_TYPE, may_read, write_metrics
from assent.serving.web.shell.problems import http_problem
from assent.sql.loader import statements
from assent.workflow.definition.schema import SCHEMA_PATH, definition_schema

log = logging.getLogger("assent.site")

MCP_PATHS: Final = ("/api/mcp", "/api/mcp/", "/mcp", "/mcp/")
PLAIN_TEXT: Final = "text/plain; charset=utf-8"
Endpoint = Callable[[Request], Awaitable[Response]]


def build_site(
    edge: Edge,
    messages: McpServer,
    documents: Documents,
    pages: list[BaseRoute],
    *,
    peers: AllowedPeers,
    trust_proxy: bool,
    metrics_key: str | None = None,
    draining: Callable[[], bool] = lambda: False,
    lost: Callable[[Request, Exception], Awaitable[Response]] = http_problem,
) -> ASGIApp:
    """Build the ASGI app. Its only state is the counters of `/metrics` and the last check of `/readyz`.
    `draining` returns whether this process is about to stop and wants no new connections. `lost` answers
    unknown addresses."""
    counts: Counter[tuple[str, str]] = Counter()
    store = StoreCheck(edge.services)

    async def metadata(found: Documents) -> bytes:
        try:
            claims = await edge.services.store.read(boundary.describe_claims)
        except StoreUnavailable:
            claims = None
        return found.metadata(claims)

    async def choose(scope: Scope) -> Documents:
        """A wrong key gets the documents for everyone: a client reads here how to get a key."""
        given = credentials_in(read_headers(scope))
        caller = await edge.check_key(given, required=False) if given.api_key else None
        catalog = edge.catalog_for(caller if isinstance(caller, Principal) else None)
        return documents if catalog is edge.catalog.shared else documents.owned

    def send_document(make: Callable[[Documents], Awaitable[bytes]], media_type: str) -> Endpoint:
        async def send(request: Request) -> Response:
            found = await choose(request.scope)
            cached = "public, max-age=300" if found is documents else "private, no-store"
            headers = {"Cache-Control": cached, "Vary": "Authorization"}
            return Response(await make(found), media_type=media_type, headers=headers)

        return send

    async def describe(scope: Scope) -> bytes:
        return await metadata(await choose(scope))

    mcp = McpEndpoint(messages, describe, trust_proxy=trust_proxy)

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
        if not may_read(
            request.headers.get("authorization", ""), metrics_key, only_here=edge.services.links.only_here
        ):
            return PlainTextResponse("The metrics need the key of ASSENT_METRICS_KEY.\n", 401)
        return PlainTextResponse(
            await write_metrics(edge, counts, with_key=metrics_key is not None), media_type=MEDIA_TYPE
        )

    routes: list[BaseRoute] = [
        *(Route(path, mcp, methods=["GET", "POST", "DELETE", "PUT", "PATCH"]) for path in MCP_PATHS),
        Route("/api/tools/{name}", RestEndpoint(edge, trust_proxy=trust_proxy)),
        Route("/.well-known/mcp.json", send_document(metadata, "application/json")),
        Route("/openapi.json", send_document(_ready(lambda found: found.openapi), "application/json")),
        Route(SCHEMA_PATH, send_document(_ready(lambda _: definition_schema()), "application/schema+json")),
        Route("/llms.txt", send_document(_ready(lambda found: found.llms), PLAIN_TEXT)),
        Route("/llms-full.txt", send_document(_ready(lambda found: found.llms_full), PLAIN_TEXT)),
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


def _ready(make: Callable[[Documents], bytes]) -> Callable[[Documents], Awaitable[bytes]]:
    async def give(found: Documents) -> bytes:
        return make(found)

    return give


async def _healthz(request: Request) -> Response:
    return JSONResponse({"ok": True, "version": __version__})


async def _answer_crash(request: Request, error: Exception) -> Response:
    # The response carries the request id; the log has the details.
    return JSONResponse({"error": "The server made a mistake; its log has the details."}, 500)


# Whether the store can be read and written, for `/readyz`.
#
# A full disk or a standby answers reads, so a write is tried, too: of one row, as large as a usual call writes. It is
# shared by all who ask and made at most once in `PROBE_SECONDS`, so that asking often costs no more than reading.

PROBE_SECONDS: Final = 1.0
PROBE: Final = "." * 32_768


class StoreCheck:
    """The last write that was tried, and when."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._tried: asyncio.Task[object] | None = None
        self._tried_seconds = 0.0

    async def check(self) -> None:
        """Raise `StoreUnavailable` unless the store can be read and written."""
        await self._services.check_store()
        now = asyncio.get_running_loop().time()
        if self._tried is None or (self._tried.done() and now - self._tried_seconds >= PROBE_SECONDS):
            self._tried, self._tried_seconds = asyncio.create_task(self._write()), now
        await asyncio.shield(self._tried)

    async def _write(self) -> object:
        probe = statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name="write probe", value=PROBE)
        return await self._services.store.write(Single(probe))
