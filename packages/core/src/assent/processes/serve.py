"""`assent serve`, and the parts it shares with `assent stdio`: the surfaces of a server, and its
jobs.

One process of a data directory leads. With SQLite only the leader runs jobs; with PostgreSQL every
process does.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import logging
import operator
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from assent import __version__
from assent.app import UNFIT, App, show_settings
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people.people import OWNER
from assent.extensions.hooks import CORE, BadExtension, Extension, find_words, own_name, refuse_taken
from assent.gate.policy import DEFAULT
from assent.kernel.distribution import word_install
from assent.kernel.limits import MAX_CONNECTIONS, RESERVED_DESCRIPTORS, SHUTDOWN_GRACE_SECONDS
from assent.kernel.tokens import KeyRing
from assent.ports import Store, StoreUnavailable
from assent.processes.listening import WAITING_TO_CONNECT, bind, leadership_of, listen
from assent.processes.start_checks import check_certificate, check_files, refuse_other_files
from assent.processes.wrap_socket_server import Fronts
from assent.serving.edge import Edge
from assent.serving.leader import Leadership
from assent.settings.client_config import first_line, owner_text, welcome_text
from assent.settings.load import Loaded, Settings, SettingsError
from assent.settings.secret_files import ensure_data_dir, resolve_secrets

if TYPE_CHECKING:
    import uvicorn
    from starlette.routing import Route
    from starlette.types import ASGIApp

    from assent.extensions.registry import Extensions
    from assent.serving.discovery import Documents
    from assent.serving.mcp import McpServer
    from assent.serving.oauth.endpoints import AuthorizationServer
    from assent.serving.sockets import ReadTimeouts
    from assent.serving.tracing import CallTracer
    from assent.serving.web.people.oidc import OidcSignIn
    from assent.serving.web.people.people import PageKeys
    from assent.serving.web.shell.console import Screen
    from assent.serving.web.shell.live import Live
    from assent.tools.catalog import Catalog

POLL_SECONDS: Final = 0.5
"""How often a process checks whether the leader is gone or `serve` wants to start."""

LEAD_SECONDS: Final = 0.1
"""How often `serve` tries to lead: a stdio process that gives way releases the lock any moment."""

HANDOVER_SECONDS: Final = 6.0
"""How long `serve` waits for a stdio process to release the port."""

SLOW_FOR_FRONTS: Final = ("mcp_types", "mcp.server.lowlevel", "assent.serving.mcp", "assent.tools.catalog")
"""What a front waits for: the SDK in steps, then the list of tools."""
SLOW_FOR_PAGES: Final = ("assent.jobs.kinds", "assent.serving.site")

ACCEPTED_AT_ONCE: Final = 32
"""Connections accepted per turn of the event loop: fewer than the reserved descriptors."""


def make_catalog(app: App) -> Catalog:
    """The tools that this server offers: its own, then those of other operators."""
    from assent.tools.catalog import Catalog, arrange
    from assent.tools.operator_effects import make_message_tool, make_tool
    from assent.tools.workspaces import SIGNUP

    settings, operators = app.settings, app.extensions
    hidden = {
        *(() if settings.workflow_checkpoints else ("workflow_checkpoint",)),
        *(() if settings.signups_per_hour else (SIGNUP,)),
    }
    offered = (
        *(tool for extension in app.installed for tool in extension.list_tools()),
        *(make_tool(each) for each in operators.effects if not each.is_reverse),
        *map(make_message_tool, operators.channels),
    )
    tools = [tool for tool in arrange(offered) if tool.name not in hidden]
    return Catalog(tools, toolsets=settings.toolsets, words=find_words(app.installed))


class Surfaces:
    """The edge of one process and its surfaces. The HTTP part is built at the first connection."""

    def __init__(
        self,
        app: App,
        own_address: Callable[[], str | None] = lambda: None,
        *,
        tls: tuple[Path, Path] | None = None,
    ) -> None:
        """`own_address` returns this process's address, if it differs from the settings. `tls` has the
        certificate and the key for https."""
        self._app = app
        self._own_address = own_address
        self.edge = Edge(lambda: make_catalog(app), app.services)
        self._tls = tls
        self.draining = False
        """Whether this process is about to stop: it serves what comes and is not ready for more."""
        self.oidc: OidcSignIn | None = None
        self._live: Live | None = None
        self._documents: Documents | None = None

    @cached_property
    def messages(self) -> McpServer:
        from assent.serving.mcp import McpServer
        from assent.serving.wrapped_server import ForeignServer

        app, settings = self._app, self._app.settings
        foreign = ForeignServer(
            self.edge,
            lambda: app.gateway,
            wraps_workspaces=lambda: any(each.wraps_workspaces for each in app.processes.values()),
        )
        return McpServer(
            self.edge,
            open_discovery=settings.open_discovery,
            toolsets=settings.toolsets,
            words=find_words(app.installed),
            foreign=foreign,
        )

    def load_rest(self) -> None:
        """Import rarely used modules now, so that no call imports them on the event loop."""
        import jsonschema  # noqa: F401 - for arguments that are wrong

        import assent.engine.actions.circumstances  # noqa: F401 - for refusals

        for process in self._app.processes.values():
            process.preload()
        self._app.workflows.list_definitions()
        if self._documents is not None:
            _ = self._documents.openapi

    def is_alone(self) -> bool:
        """Whether the call that is answered is the only one. While a call waits for a person, pages and jobs run
        beside it, whose writes must not hold the event loop."""
        return self.edge.running == 1 and not self._app.waits.count

    def end_streams(self) -> None:
        """End event streams and waiting calls, because the server stops."""
        self._app.waits.release()
        if self._live is not None:
            self._live.end()

    def server(self) -> uvicorn.Server:
        """The HTTP server, with as many connections as the settings and the descriptors allow."""
        from assent.serving.sockets import ReadTimeouts

        patience = ReadTimeouts(connections=limit_connections(self._app.settings))
        return http_server(self.site(), self.end_streams, patience, tls=self._tls)

    def site(self) -> ASGIApp:
        from assent.serving.discovery import Documents, list_operators
        from assent.serving.http import AllowedPeers
        from assent.serving.site import SitePages, build_site
        from assent.serving.web.routes import answer_lost
        from assent.serving.web.shell.console import arrange_entries

        settings = self._app.settings
        base_url = self._own_address() or settings.base_url
        seen_as: dict[str, Any] = {"base_url": base_url, "trust_proxy": settings.trust_proxy_headers}
        catalog = self.edge.catalog
        screens = tuple(screen for each in self._app.installed for screen in each.list_screens())
        operators = list_operators(self._app.installed)
        own = Documents(catalog, base_url, (*operators, *self._app.extensions.describe()))
        self._documents = Documents(catalog.shared, base_url, operators, owned=own)
        oauth = self._offer_oauth(base_url)
        routes = [
            *self.make_pages(base_url, (*screens, *(oauth.screens if oauth is not None else ()))),
            *(oauth.routes() if oauth is not None else ()),
            *(route for process in self._app.processes.values() for route in process.make_routes(**seen_as)),
        ]
        lost = answer_lost(self._app.services, self._page_keys, base_url=base_url, added=screens)
        return build_site(
            self.edge,
            self.messages,
            self._documents,
            SitePages(routes, arrange_entries(screens), lost),
            peers=AllowedPeers(base_url, settings.allowed_hosts, settings.allowed_origins),
            trust_proxy=settings.trust_proxy_headers,
            resource=oauth.resource if oauth is not None else None,
            metrics_key=settings.metrics_key,
            draining=lambda: self.draining,
        )

    def _offer_oauth(self, base_url: str) -> AuthorizationServer | None:
        """How clients sign in; None if the settings say no, or no browser can sign a consent at this address."""
        from assent.engine.people.origins import can_hold_keys
        from assent.serving.oauth.endpoints import AuthorizationServer
        from assent.serving.oauth.resource import ProtectedResource

        settings = self._app.settings
        if not settings.oauth or not can_hold_keys(base_url):
            return None
        resource = ProtectedResource(
            base_url, settings.host, settings.trust_proxy_headers, settings.open_discovery
        )
        return AuthorizationServer(self._app.services, resource, settings.allow_hosts)

    def make_pages(self, base_url: str, screens: tuple[Screen, ...] = ()) -> list[Route]:
        """The pages of the server, then the screens of extensions."""
        from assent.serving.web.routes import review_routes
        from assent.serving.web.shell.live import Live
        from assent.serving.web.shell.pages import page_routes

        services, settings = self._app.services, self._app.settings
        self._live, self.oidc = Live(services), offer_oidc(settings)
        seen_as: dict[str, Any] = {"base_url": base_url, "trust_proxy": settings.trust_proxy_headers}
        return [
            *page_routes(services, catalog=self.edge.catalog_for(None), bound_to=settings.host, **seen_as),
            *review_routes(services, self._page_keys, self._live, oidc=self.oidc, added=screens, **seen_as),
        ]

    async def _page_keys(self) -> PageKeys:
        """The key rings, once the store is open and the secrets are verified against it."""
        from assent.serving.web.people.people import PageKeys

        await self._app.store.open()
        keys = self._app.keys
        return PageKeys(
            review_links=keys.review_links,
            review_cookies=KeyRing.for_purpose(keys.master, "review-cookie"),
            forms=KeyRing.for_purpose(keys.master, "form"),
        )


def check_names(app: App) -> None:
    """Raise with both owners if an extension that the settings name has a part that the server or another extension
    has, too: one would replace the other. Ours are compared by a test."""
    if not app.settings.extensions:
        return
    try:
        for what, own, name_parts, clash in _list_points(app):
            added = ((name, own_name(each)) for each in app.installed for name in name_parts(each))
            refuse_taken(what, (*((name, CORE) for name in own), *added), clash)
    except BadExtension as bad:
        raise SettingsError(f"The setting extensions does not work: {bad.why}\n{bad.fix}") from bad


NameParts = Callable[[Extension], Iterable[str]]
Clash = Callable[[str, str], bool]


def _list_points(app: App) -> Iterator[tuple[str, Iterable[str], NameParts, Clash]]:
    """Yield what extensions add by name: the names of the server itself, and how to list those of an extension."""
    from assent.engine.people.notifiers import MailNotifier, WebPushNotifier
    from assent.gate.effects import CONFIRMATION
    from assent.gate.records import WORKFLOW
    from assent.jobs.kinds import core_kinds
    from assent.tools.catalog import arrange, list_names

    def list_paths(each: Extension) -> Iterator[str]:
        yield from (screen.path for screen in each.list_screens())
        process = app.processes[each.name]
        yield from (route.path for route in process.make_routes(base_url=base_url, trust_proxy=False))

    base_url = app.settings.base_url
    shown, services, same = show_settings(app.settings), app.services, operator.eq
    yield "table prefix", (), lambda each: (part.prefix for part in each.list_components()), same
    yield "component", (), lambda each: (part.name for part in each.list_components()), same
    yield "tool", list_names(arrange(())), lambda each: list_names(each.list_tools()), same
    yield "effect type", (CONFIRMATION.id,), lambda each: (part.id for part in each.list_types()), same
    yield (
        "effect",
        (f"{CONFIRMATION.channel} {CONFIRMATION.verb}",),
        lambda each: (f"{part.channel} {part.verb}" for part in each.list_types()),
        same,
    )
    yield "connector", (WORKFLOW,), lambda each: (part.id for part in each.list_connectors()), same
    pages = (route.path for route in Surfaces(app).make_pages(base_url))
    yield "page", pages, list_paths, meets
    yield "job", core_kinds(app), lambda each: each.make_jobs(services), same
    yield (
        "notifier",
        (MailNotifier.kind, WebPushNotifier.kind),
        lambda each: (part.kind for part in each.make_notifiers(shown[each.name])),
        same,
    )


def meets(path: str, other: str) -> bool:
    """Whether an address can have both paths, such as `/runs/{run_id}` and `/runs/new`."""
    for ours, theirs in zip_longest(path.split("/"), other.split("/")):
        if any(":path}" in (part or "") for part in (ours, theirs)):
            return True
        if ours is None or theirs is None:
            return False
        is_any = ("{" in ours and theirs) or ("{" in theirs and ours)
        if ours != theirs and not is_any:
            return False
    return True


def limit_connections(settings: Settings) -> int:
    """The connection limit: the setting, bounded by the descriptors."""
    from assent.serving.sockets import fit_descriptors

    reserved = RESERVED_DESCRIPTORS + (settings.pool_size if settings.sqlite_path is None else 0)
    return fit_descriptors(settings.max_connections, reserved)


def http_server(
    site: ASGIApp,
    stopping: Callable[[], None],
    patience: ReadTimeouts | None = None,
    *,
    tls: tuple[Path, Path] | None = None,
) -> uvicorn.Server:
    """Return uvicorn around the site. `stopping` ends streams that would stay open."""
    import uvicorn

    from assent.serving.sockets import ReadTimeouts, fit_descriptors, protocol

    patience = patience or ReadTimeouts(connections=fit_descriptors(MAX_CONNECTIONS))

    class Quiet(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            for listener in sockets or []:
                listener.listen(WAITING_TO_CONNECT)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            stopping()
            await super().shutdown(sockets=sockets)

    config = uvicorn.Config(
        site,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        http=protocol(patience),
        ws="none",
        backlog=ACCEPTED_AT_ONCE,
        timeout_graceful_shutdown=SHUTDOWN_GRACE_SECONDS,
        timeout_keep_alive=75,
        ssl_certfile=tls[0] if tls else None,
        ssl_keyfile=tls[1] if tls else None,
    )
    return Quiet(config)


@asynccontextmanager
async def running_jobs(app: App) -> AsyncIterator[Callable[[], None]]:
    """Run jobs inside this context. The function that it gives ends claiming before the context ends,
    which waits for the jobs that run."""
    from assent.jobs.kinds import job_kinds
    from assent.jobs.worker import CONCURRENCY, CONCURRENCY_APART, Runner

    kinds, worker = job_kinds(app), f"{socket.gethostname()}:{os.getpid()}"
    runners = [
        Runner(
            app.store,
            app.clock,
            {name: kind for name, kind in kinds.items() if kind.apart is apart},
            worker=worker,
            concurrency=CONCURRENCY_APART if apart else CONCURRENCY,
        )
        for apart in (False, True)
    ]
    tasks = [asyncio.create_task(runner.run()) for runner in runners]

    def wake() -> None:
        for runner in runners:
            runner.wake()

    def stop() -> None:
        app.wake_jobs = lambda: None
        for runner in runners:
            runner.stop()

    app.wake_jobs = wake
    try:
        yield stop
    finally:
        stop()
        await asyncio.gather(*tasks)


def offer_oidc(settings: Settings) -> OidcSignIn | None:
    """Return the issuer and who may come in, or None if the settings name no issuer."""
    from assent.engine.people.oidc import AdmissionRules
    from assent.net.oidc import OidcClient, OidcIssuer
    from assent.serving.web.people.oidc import OidcSignIn

    if settings.oidc_issuer is None or settings.oidc_client_id is None:
        return None
    client = OidcClient(
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        client_secret=settings.oidc_client_secret,
        name=settings.oidc_name or urlsplit(settings.oidc_issuer).hostname or settings.oidc_issuer,
        allow_hosts=settings.allow_hosts,
    )
    pairs = (each.rpartition("=") for each in settings.oidc_members)
    rules = AdmissionRules(
        domains=settings.oidc_domains,
        claim=settings.oidc_claim,
        owners=settings.oidc_owners,
        members=tuple((value, workspace) for value, _, workspace in pairs),
        workspaces=settings.oidc_workspaces if settings.oidc_domains else (),
    )
    return OidcSignIn(OidcIssuer(client), rules)


async def resolve_workspaces(offered: OidcSignIn | None, store: Store) -> None:
    """Find the workspaces that the rules name; the first sign-in does it if the store is out of reach. Raises
    `SettingsError` if a name is that of several."""
    from assent.engine.people.oidc import SignInDenied

    try:
        if offered is not None:
            await offered.resolve(store)
    except StoreUnavailable:
        return
    except SignInDenied as denied:
        raise SettingsError(
            f"{denied}\nWrite the id of one in oidc_workspaces and oidc_members; see: assent workspace list"
        ) from None


log = logging.getLogger("assent.process")


# OpenTelemetry's own variables configure the export of traces. Without an address nothing is loaded.
ADDRESSES: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
DISABLED: Final = "OTEL_SDK_DISABLED"


def start_tracing(environment: Mapping[str, str]) -> CallTracer | None:
    """Export spans until the process ends, and return what makes those of calls; None if no spans are exported."""
    wanted = any(environment.get(name) for name in ADDRESSES)
    if not wanted or environment.get(DISABLED, "").lower() == "true":
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log.warning(
            "the environment names where traces go, but OpenTelemetry's SDK is missing, so none are sent: %s",
            word_install("otel"),
        )
        return None
    from opentelemetry.trace import set_tracer_provider

    from assent.serving.tracing import CallTracer

    about = {"service.version": __version__}
    if not environment.get("OTEL_SERVICE_NAME"):
        about["service.name"] = "assent"
    provider = TracerProvider(resource=Resource.create(about))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    set_tracer_provider(provider)
    log.info("traces of calls are sent to %s", next(filter(None, map(environment.get, ADDRESSES))))
    return CallTracer(provider.get_tracer("assent", __version__))


def serve(loaded: Loaded, *, for_front: bool = False) -> int:
    """Run `assent serve` to its end and return the exit status. `for_front`: a front has started it, and comes."""
    import uvloop

    from assent.settings.logs import start_logging

    gc.disable()  # it would look through modules again and again while they load
    settings = loaded.settings
    start_logging(loaded)
    resolve_secrets(settings)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(settings, for_front=for_front))


async def _serve(settings: Settings, *, for_front: bool) -> int:
    app, tls = App(settings), check_certificate(settings)
    leadership = _announce(settings)
    try:
        await asyncio.to_thread(check_names, app)
        try:
            await app.prepare()
        except UNFIT:
            raise
        except StoreUnavailable as error:
            refuse_other_files(settings)
            log.warning("the database cannot be used; calls get 503 until it can: %s", error)
        await asyncio.to_thread(lambda: app.extensions)  # before the first call, which needs them
        await asyncio.to_thread(check_files, app)
        surfaces = Surfaces(app, tls=tls)
        app.is_alone = surfaces.is_alone
        surfaces.edge.tracer = start_tracing(os.environ)
        listeners = await _listen(settings, leadership)
        loaded = asyncio.Event()
        fronts = Fronts(
            settings, surfaces.edge, lambda: app.gateway, lambda: surfaces.messages, expected=for_front
        )
        beside = [asyncio.create_task(_lead(app, fronts, leadership, loaded))]
        try:
            for name in SLOW_FOR_FRONTS:
                await fronts.let_in()  # their servers start while this loads
                importlib.import_module(name)
            await fronts.answer()
            for name in SLOW_FOR_PAGES:
                importlib.import_module(name)
            server = surfaces.server()
            await resolve_workspaces(surfaces.oidc, app.store)
            loaded.set()
            beside.append(asyncio.create_task(_load_rest(surfaces)))
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGINT, _stop, server)
            loop.add_signal_handler(signal.SIGTERM, _drain, server, surfaces, settings.drain_seconds)
            await _welcome(app)
            gc.enable()
            gc.freeze()  # exempt start-up objects from garbage collection, which would cost callers 100 ms
            await server.serve(sockets=listeners)
        finally:
            beside[0].cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            for each in listeners:
                each.close()
    finally:
        await app.close()
        if leadership is not None:
            leadership.release()
    return 0


async def _load_rest(surfaces: Surfaces) -> None:
    await asyncio.to_thread(surfaces.load_rest)
    gc.freeze()


def _drain(server: uvicorn.Server, surfaces: Surfaces, seconds: float) -> None:
    """Stop after a time in which a load balancer sees that this process is not ready. A second
    signal stops now."""
    if surfaces.draining or not seconds:
        _stop(server)
        return
    surfaces.draining = True

    def end() -> None:
        server.should_exit = True

    asyncio.get_running_loop().call_later(seconds, end)


def _stop(server: uvicorn.Server) -> None:
    """Stop the server. The first signal lets calls finish, the second does not."""
    server.force_exit = server.should_exit
    server.should_exit = True


def _announce(settings: Settings) -> Leadership | None:
    """Announce this process to others on the data directory. A replica may have none."""
    try:
        ensure_data_dir(settings.data_dir)
    except (OSError, SettingsError):
        if settings.sqlite_path is not None:
            raise
        return None
    return leadership_of(settings, "serve")


async def _listen(settings: Settings, leadership: Leadership | None) -> list[socket.socket]:
    deadline = asyncio.get_running_loop().time() + HANDOVER_SECONDS
    while leadership is not None:
        leadership.claim_serve()
        said = leadership.announced()
        giving_way = said is not None and said.role == "stdio" and said.address == settings.base_url
        if not giving_way or asyncio.get_running_loop().time() > deadline:
            break
        with contextlib.suppress(OSError):
            return listen(settings.host, settings.port)
        await asyncio.sleep(0.05)
    return bind(settings)


async def _lead(app: App, fronts: Fronts, leadership: Leadership | None, loaded: asyncio.Event) -> None:
    """Run the jobs while this process leads, once it has `loaded` its pages; with PostgreSQL always. The server of the
    data directory also serves the fronts of `assent wrap`; where their socket cannot be made, it leads without."""
    address = app.settings.base_url
    async with contextlib.AsyncExitStack() as whole:
        serves = False
        while leadership is not None:
            try:
                if leadership.claim_serve():
                    leadership.announce_serving(address)
                    if not serves:
                        serves = True
                        try:
                            await whole.enter_async_context(fronts)
                        except OSError as error:
                            log.error("`assent wrap` cannot reach this server: %s", error)
                if leadership.try_lead():
                    leadership.announce(address)
                if leadership.leads or app.store.dialect != "sqlite":
                    break
            except OSError as error:
                log.warning("this process cannot lead yet: %s", error)
            await asyncio.sleep(LEAD_SECONDS)
        await loaded.wait()
        async with running_jobs(app):
            await asyncio.Event().wait()


def _describe_extensions(loaded: Extensions) -> list[str]:
    """The operators of other packages, notes for their authors, and those that were left out."""
    shown = [
        f"Operator {operator.id}: {', '.join(effect.tool for effect in operator.declared)}"
        f" ({loaded.sources[operator.id]})"
        for operator in loaded.operators
    ]
    shown += [f"Note: {note}." for note in loaded.notes]
    shown += [f"LEFT OUT: {failure.source}: {failure.why}" for failure in loaded.failures]
    return ["", *shown] if shown else []


async def _welcome(app: App) -> None:
    """Say where the server listens: on a terminal with all that its owner needs, else in the log."""
    if not sys.stderr.isatty():
        log.info("%s", first_line(app.settings))
        for line in filter(None, _describe_extensions(app.extensions)):
            log.info("%s", line)
        return
    from assent.engine.actions import policies
    from assent.processes import owner_link

    policy = DEFAULT
    with contextlib.suppress(StoreUnavailable):
        policy = await app.store.read(lambda: policies.find(LOCAL_WORKSPACE))
    text = "\n".join([welcome_text(app.settings, policy), *_describe_extensions(app.extensions)])
    link = None
    # Only on a terminal: an agent that started this reads a pipe and must not get the link.
    with contextlib.suppress(StoreUnavailable):
        link = await owner_link.make(app, shown_to="terminal")
        text += "\n\n" + owner_text(app.settings, link)
        text += await owner_link.invite_phone(app)
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - talk belongs on stderr
    if link is not None and app.settings.open_browser:
        await _open_browser(app, link)


async def _open_browser(app: App, link: str) -> None:
    """Open the owner's link, unless a browser of theirs is signed in."""
    from assent.engine.people import members
    from assent.processes import owner_link

    now_ms = app.clock.now_ms()
    if owner_link.can_open() and not await app.store.read(lambda: members.devices(OWNER, now_ms)):
        # Not awaited: the browser asks this process for the page.
        threading.Thread(target=owner_link.open_link, args=(link, app.settings.data_dir), daemon=True).start()
