"""Assembles the HTTP surface: MCP, REST, documents, pages, health checks and metrics."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Scope

from assent import __version__
from assent.engine.actions import boundary
from assent.engine.audit import copies
from assent.engine.core.services import Services
from assent.engine.core.tenancy import Principal
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import DAY_MS, HOUR_MS, SECOND_MS
from assent.kernel.structs import Record
from assent.ports import Single, Store, StoreUnavailable, Transaction
from assent.serving.discovery import Documents
from assent.serving.edge import Edge, Latency, answer_refusal, unavailable_refusal
from assent.serving.http import AllowedPeers, Guard, McpEndpoint, RestEndpoint, credentials_in, read_headers
from assent.serving.mcp import McpServer
from assent.serving.oauth.resource import ProtectedResource
from assent.serving.web.shell.problems import http_problem
from assent.serving.web.shell.rendering import NavigationEntry
from assent.sql.loader import statements
from assent.workflow.definition.schema import SCHEMA_PATH, definition_schema

# The metrics of a process, as Prometheus reads them.
#
# Counted here: requests, calls and their latency. Read from the store at each request: what waits and since when,
# unknown outcomes, jobs, freezes, checkpoints without a copy. Labels are names of tools and fixed words, so that no
# caller can create a metric.

METRICS_MEDIA_TYPE: Final = "text/plain; version=0.0.4"
METRICS: Final[dict[str, tuple[str, str]]] = {
    "build_info": ("gauge", "1, with the version of the server."),
    "http_requests_total": ("counter", "HTTP requests of this process, by method and status."),
    "tool_calls_total": (
        "counter",
        "Calls of this process, by tool and outcome: ok, or the reason of the refusal.",
    ),
    "tool_call_seconds": ("histogram", "How long the calls of this process took, by tool."),
    "store_up": ("gauge", "1 if the database answers, else 0; then the metrics below are missing."),
    "actions_waiting": ("gauge", "Actions that wait for a decision, by the age that they have not reached."),
    "actions_unknown": ("gauge", "Actions of which it is unknown whether they happened."),
    "jobs": ("gauge", "Jobs by state: due, later, running, failed."),
    "job_lateness_seconds": ("gauge", "How long the oldest due job has been waiting."),
    "freezes": ("gauge", "Freezes in force: of the server and of workspaces."),
    "audit_uncopied_seconds": ("gauge", "How long a signed checkpoint has been without a copy elsewhere."),
    "pool_connections": ("gauge", "Connections to PostgreSQL, by state."),
    "database_server_away": ("gauge", "1 for each server of a spread database that does not answer."),
}
"""Every metric: its kind, and what it says."""
AGES_MS: Final = (HOUR_MS, 4 * HOUR_MS, DAY_MS, 7 * DAY_MS)
"""The bounds of the ages in which waiting actions are counted."""


def may_read(authorization: str, key: str | None, *, only_here: bool) -> bool:
    """Whether a request may read the metrics: with the key, or without one on a server that only this machine
    reaches."""
    if key is None:
        return only_here
    given = authorization.removeprefix("Bearer ").strip()
    return hmac.compare_digest(given.encode(), key.encode())


async def write_metrics(edge: Edge, requests: Counter[tuple[str, str]], *, with_key: bool) -> str:
    """Return every metric as text. While the store is unavailable, its part is left out and `assent_store_up` is 0.
    Without the key the owner's tools are left out: their names are the owner's."""
    hidden = () if with_key else {tool.name for tool in edge.catalog.tools if tool.owned}
    outcomes = {key: n for key, n in edge.outcomes.items() if key[0] not in hidden}
    latencies = {tool: each for tool, each in edge.latencies.items() if tool not in hidden}
    lines = [
        *_family("build_info", [({"version": __version__}, 1)]),
        *_family(
            "http_requests_total",
            [({"method": method, "status": status}, n) for (method, status), n in sorted(requests.items())],
        ),
        *_family(
            "tool_calls_total",
            [({"tool": tool, "outcome": outcome}, n) for (tool, outcome), n in sorted(outcomes.items())],
        ),
        *_write_latency(latencies),
    ]
    store, now_ms = edge.services.store, edge.services.clock.now_ms()
    servers = getattr(store, "servers", None)
    if servers is not None and servers.away:
        lines += _family("database_server_away", [({"server": name}, 1) for name in servers.away])
    try:
        read = await store.read(lambda: _read_state(now_ms))
    except StoreUnavailable:
        return "\n".join([*lines, *_family("store_up", [({}, 0)])]) + "\n"
    lines += _family("store_up", [({}, 1)])
    for name, samples in read.items():
        lines += _family(name, samples)
    if pool := _count_connections(store):
        lines += _family("pool_connections", [({"state": state}, n) for state, n in pool.items()])
    return "\n".join(lines) + "\n"


def _read_state(now_ms: int) -> Transaction[dict[str, list[tuple[dict[str, str], float]]]]:
    rows = yield statements.count_waiting_everywhere(
        now_ms=now_ms, **{f"after_{place}": now_ms - age for place, age in enumerate(AGES_MS)}
    )
    names = [f"{age // HOUR_MS}h" for age in AGES_MS] + ["older"]
    waiting = [({"younger_than": name}, rows[0][f"age_{place}"] or 0) for place, name in enumerate(names)]
    jobs = yield statements.count_jobs(now_ms=now_ms)
    counted = {(row["state"], row["due"]): row for row in jobs}
    backlog = [
        ({"state": state}, float(row["jobs"]))
        for state, row in (("due", counted.get(("waiting", 1))), ("later", counted.get(("waiting", 0))))
        if row is not None
    ]
    backlog += [
        ({"state": str(row["state"])}, float(row["jobs"])) for row in jobs if row["state"] != "waiting"
    ]
    due = counted.get(("waiting", 1))
    late = max(0.0, (now_ms - due["oldest_ms"]) / SECOND_MS) if due is not None else 0.0
    frozen = yield statements.list_freezes()
    uncopied_ms = yield from copies.find_overdue(now_ms)
    return {
        "actions_waiting": waiting,
        "actions_unknown": [({}, rows[0]["unknown"] or 0)],
        "jobs": backlog,
        "job_lateness_seconds": [({}, round(late, 3))],
        "freezes": [({}, float(len(frozen)))],
        "audit_uncopied_seconds": [
            ({}, (now_ms - uncopied_ms) / SECOND_MS if uncopied_ms is not None else 0)
        ],
    }


def _write_latency(latencies: Mapping[str, Latency]) -> Iterator[str]:
    yield from _head("tool_call_seconds")
    name = "assent_tool_call_seconds"
    for tool, latency in sorted(latencies.items()):
        for bound, count in latency.cumulate():
            yield f'{name}_bucket{{tool="{tool}",le="{bound}"}} {count}'
        yield f'{name}_sum{{tool="{tool}"}} {latency.seconds:.6f}'
        yield f'{name}_count{{tool="{tool}"}} {latency.count}'


def _head(name: str) -> Iterator[str]:
    kind, told = METRICS[name]
    yield f"# HELP assent_{name} {told}"
    yield f"# TYPE assent_{name} {kind}"


def _count_connections(store: Store) -> Mapping[str, int]:
    """The connections of a store with a pool by their state; empty for any other."""
    count = getattr(store, "count_connections", None)
    return count() if count is not None else {}


def _family(name: str, samples: Iterable[tuple[Mapping[str, Any], float]]) -> Iterator[str]:
    yield from _head(name)
    for labels, value in samples:
        shown = ",".join(f'{label}="{text}"' for label, text in labels.items())
        yield f"assent_{name}{{{shown}}} {value:g}" if shown else f"assent_{name} {value:g}"


log = logging.getLogger("assent.site")

MCP_PATHS: Final = ("/api/mcp", "/api/mcp/", "/mcp", "/mcp/")
PLAIN_TEXT: Final = "text/plain; charset=utf-8"
Endpoint = Callable[[Request], Awaitable[Response]]


class SitePages(Record):
    """What people see of a server."""

    routes: list[BaseRoute]
    navigation: tuple[NavigationEntry, ...]
    answer_lost: Callable[[Request, Exception], Awaitable[Response]]
    """Answers unknown addresses."""


def build_site(
    edge: Edge,
    messages: McpServer,
    documents: Documents,
    pages: SitePages,
    *,
    peers: AllowedPeers,
    trust_proxy: bool,
    resource: ProtectedResource | None,
    metrics_key: str | None,
    draining: Callable[[], bool],
) -> ASGIApp:
    """Build the ASGI app. Its only state is the counters of `/metrics` and the last check of `/readyz`.
    `resource` says how clients sign in, if they can. `draining` returns whether this process is about to stop and
    wants no new connections."""
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

    mcp = McpEndpoint(messages, describe, trust_proxy=trust_proxy, resource=resource)

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
            await write_metrics(edge, counts, with_key=metrics_key is not None), media_type=METRICS_MEDIA_TYPE
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
        *pages.routes,
    ]
    site = Starlette(
        routes=routes,
        exception_handlers={404: pages.answer_lost, 405: http_problem, Exception: _answer_crash},
    )
    site.router.redirect_slashes = False
    site.state.navigation = pages.navigation
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
ELSEWHERE: Final = tuple(f"write probe {number}" for number in range(8))
"""Names of no workspace, which are spread over the servers as workspaces are."""


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

    async def _write(self) -> None:
        try:
            await self._probe(SYSTEM_WORKSPACE)
        except StoreUnavailable:
            # A database of several servers may lack the one with the rows of no workspace, and serve most workspaces.
            tried = await asyncio.gather(*map(self._probe, ELSEWHERE), return_exceptions=True)
            if all(isinstance(each, BaseException) for each in tried):
                raise

    async def _probe(self, place: str) -> None:
        probe = statements.set_deployment_fact(workspace_id=place, name="write probe", value=PROBE)
        await self._services.store.write(Single(probe))
