"""The two long-running processes: `serve` and `stdio`.

Both are the same server. On the embedded store one process of a data directory leads: it runs the jobs, and where
that is a `stdio` process it also serves the pages, after its first answer, so that a person whose client only runs
`assent stdio` has a review page that works. On PostgreSQL every process runs jobs, and the pages are the replicas'.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from assent import logs
from assent.app import UNFIT, App
from assent.engine.tenancy import LOCAL_PRINCIPAL
from assent.kernel.limits import MAX_CONNECTIONS, RESERVED_DESCRIPTORS, SHUTDOWN_GRACE_SECONDS
from assent.kernel.refusals import Reason
from assent.kernel.tokens import KeyRing
from assent.ports import StoreUnavailable
from assent.secret_files import ensure_data_dir, resolve_secrets
from assent.serving.edge import Credentials, Edge
from assent.serving.exchange import Filter
from assent.serving.leader import Leadership
from assent.serving.mcp import McpServer
from assent.serving.stdio import Pipes, Session
from assent.settings import Settings, SettingsError

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from assent.serving.sockets import Patience
    from assent.serving.web.live import Live
    from assent.serving.web.people import PageKeys
    from assent.tools.catalog import Catalog

log = logging.getLogger("assent.process")

POLL_SECONDS: Final = 0.5
"""How soon a process notices that the leader is gone or that `serve` wants to start."""

HANDOVER_SECONDS: Final = 6.0
"""How long `serve` waits for a stdio process to let go of the port."""

WAITING_TO_CONNECT: Final = 1_024
"""Connections that the system keeps for us until we accept them."""

ACCEPTED_AT_ONCE: Final = 32
"""How many the event loop accepts before it looks at what it has: fewer than the descriptors in reserve."""


def begin_request() -> str:
    """A new id, which everything that this task logs from here on carries."""
    begun = os.urandom(8).hex()
    logs.request_id.set(begun)
    return begun


def current_request() -> str:
    """The id that HTTP gave this request already; a call on stdio begins here."""
    return logs.request_id.get() or begin_request()


def catalog_for(settings: Settings) -> Catalog:
    """The tools that this server offers."""
    from assent.tools.catalog import ALL_TOOLS, Catalog

    hidden = () if settings.workflow_checkpoints else ("workflow_checkpoint",)
    offered = [tool for tool in ALL_TOOLS if tool.name not in hidden]
    return Catalog(offered, toolsets=settings.toolsets)


class Surfaces:
    """The edge of one process and what stands on it. The HTTP part is made when somebody first connects."""

    def __init__(self, app: App) -> None:
        self._app = app
        settings = app.settings
        self.edge = Edge(partial(catalog_for, settings), app.services, current_request)
        self.messages = Filter(
            McpServer(self.edge, open_discovery=settings.open_discovery, toolsets=settings.toolsets)
        )
        self._live: Live | None = None

    def end_streams(self) -> None:
        """Let go of pages that listen and calls that wait: the server is stopping."""
        self._app.waits.release()
        if self._live is not None:
            self._live.end()

    def server(self) -> uvicorn.Server:
        """The pages and calls over HTTP, with as many connections as the settings and the descriptors allow."""
        from assent.serving.sockets import Patience, affordable

        settings = self._app.settings
        reserved = RESERVED_DESCRIPTORS + (settings.pool_size if settings.sqlite_path is None else 0)
        patience = Patience(connections=affordable(settings.max_connections, reserved))
        return http_server(self.site(), self.end_streams, patience)

    def site(self) -> ASGIApp:
        from assent.serving.discovery import Documents, operators
        from assent.serving.guard import AllowedPeers
        from assent.serving.site import build_site
        from assent.serving.web.feed import feed_routes
        from assent.serving.web.live import Live
        from assent.serving.web.pages import page_routes
        from assent.serving.web.review_routes import review_routes

        settings = self._app.settings
        catalog = self.edge.catalog
        self._live = Live(self._app.services)
        return build_site(
            self.edge,
            self.messages,
            Documents(catalog, settings.base_url, operators()),
            [
                *page_routes(
                    self._app.services,
                    base_url=settings.base_url,
                    catalog=catalog,
                    trust_proxy=settings.trust_proxy_headers,
                ),
                *review_routes(self._app.services, self._page_keys, self._live, base_url=settings.base_url),
                *feed_routes(self._app.services, self._app.visits, base_url=settings.base_url),
            ],
            peers=AllowedPeers(settings.base_url, settings.allowed_hosts, settings.allowed_origins),
            trust_proxy=settings.trust_proxy_headers,
            request_ids=begin_request,
        )

    async def _page_keys(self) -> PageKeys:
        """Which keys sign what, once the store is open and the secrets are known to fit it."""
        from assent.serving.web.people import PageKeys

        await self._app.store.open()
        master = self._app.known_secrets.master
        return PageKeys(
            review_links=self._app.review_keys,
            review_cookies=KeyRing.for_purpose(master, "review-cookie"),
            forms=KeyRing.for_purpose(master, "form"),
        )


def bind(settings: Settings) -> socket.socket:
    """The listening socket, or the plain reason why there is none."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(WAITING_TO_CONNECT)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise SettingsError(
                f"Port {settings.port} on {settings.host} is in use by another program. Stop that program, or choose "
                f"another port: assent serve --port {settings.port + 1}"
            ) from error
        raise SettingsError(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. Choose another --host or --port."
        ) from error
    listener.setblocking(False)
    return listener


def http_server(
    site: ASGIApp, stopping: Callable[[], None], patience: Patience | None = None
) -> uvicorn.Server:
    """uvicorn around the site; signals are the process's own affair. `stopping` ends what would not end by itself."""
    import uvicorn

    from assent.serving.sockets import Patience, affordable, protocol

    patience = patience or Patience(connections=affordable(MAX_CONNECTIONS))

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
    )
    return Quiet(config)


@asynccontextmanager
async def running_jobs(app: App) -> AsyncIterator[None]:
    """Jobs run while this is open."""
    from assent.job_kinds import job_kinds
    from assent.serving.worker import CONCURRENCY, CONCURRENCY_APART, Runner

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

    app.wake_jobs = wake
    try:
        yield
    finally:
        app.wake_jobs = lambda: None
        for runner in runners:
            runner.stop()
        await asyncio.gather(*tasks)


def serve(settings: Settings) -> int:
    """Run `assent serve` to its end and return the exit status."""
    import uvloop

    from assent.logs import configure_logging

    configure_logging(settings)
    resolve_secrets(settings)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(settings))


async def _serve(settings: Settings) -> int:
    app = App(settings)
    leadership = Leadership(settings.data_dir, "serve") if app.store.dialect == "sqlite" else None
    try:
        try:
            await app.prepare()
        except UNFIT:
            raise
        except StoreUnavailable as error:
            log.warning("the database is out of reach; calls get 503 until it is back: %s", error)
        listener = await _listen(settings, leadership)
        surfaces = Surfaces(app)
        server = surfaces.server()
        leading = asyncio.create_task(_lead_jobs(app, leadership, settings.base_url))
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, _stop, server)
            await _welcome(app)
            gc.freeze()  # what a start leaves behind stays; looking through it again costs callers 100 ms
            await server.serve(sockets=[listener])
        finally:
            leading.cancel()
            await asyncio.gather(leading, return_exceptions=True)
            listener.close()
    finally:
        await app.close()
        if leadership is not None:
            leadership.release()
    return 0


def _stop(server: uvicorn.Server) -> None:
    """The first signal lets the calls in flight finish, the second does not."""
    server.force_exit = server.should_exit
    server.should_exit = True


async def _listen(settings: Settings, leadership: Leadership | None) -> socket.socket:
    if leadership is None:
        return bind(settings)
    deadline = asyncio.get_running_loop().time() + HANDOVER_SECONDS
    while True:
        leadership.claim_serve()
        try:
            return bind(settings)
        except SettingsError:
            said = leadership.announced()
            giving_way = said is not None and said.role == "stdio" and said.address == settings.base_url
            if not giving_way or asyncio.get_running_loop().time() > deadline:
                raise
        await asyncio.sleep(0.05)


async def _lead_jobs(app: App, leadership: Leadership | None, address: str) -> None:
    """Run the jobs while this process leads; on PostgreSQL every process does."""
    while leadership is not None:
        try:
            if leadership.try_lead():
                leadership.announce(address)
                break
            leadership.claim_serve()
        except OSError as error:
            log.warning("this process cannot lead yet: %s", error)
        await asyncio.sleep(POLL_SECONDS)
    async with running_jobs(app):
        await asyncio.Event().wait()


async def _welcome(app: App) -> None:
    from assent import owner_link
    from assent.cli_welcome import owner_text, welcome_text

    text = welcome_text(app.settings)
    if sys.stderr.isatty():
        # A person is watching. An agent that started this reads a pipe and must not get the link.
        with contextlib.suppress(StoreUnavailable):
            text += "\n\n" + owner_text(await owner_link.make(app, shown_to="terminal"))
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - talk belongs on stderr


def stdio(settings: Settings) -> int:
    """Run `assent stdio` until its client goes and return the exit status."""
    from assent.logs import configure_first_logging

    configure_first_logging(settings)
    return asyncio.run(_stdio(settings))


async def _stdio(settings: Settings) -> int:
    pipes = Pipes()
    sqlite = settings.sqlite_path is not None
    ensure_data_dir(settings.data_dir)
    leadership = Leadership(settings.data_dir, "stdio") if sqlite else None
    app = App(
        settings,
        page_address=partial(_reachable_pages, leadership) if leadership is not None else None,
        one_client=True,
    )
    surfaces = Surfaces(app)
    answered = asyncio.Event()
    credentials = (
        Credentials(api_key=settings.api_key) if settings.api_key else Credentials(local=LOCAL_PRINCIPAL)
    )
    behind = asyncio.create_task(_behind_the_scenes(app, surfaces, leadership, answered, credentials))
    try:
        await Session(surfaces.messages, credentials, pipes.write, answered.set).run(pipes.lines())
    finally:
        behind.cancel()
        await asyncio.gather(behind, return_exceptions=True)
        await app.close()
        if leadership is not None:
            leadership.release()
        pipes.close()
    return 0


def _reachable_pages(leadership: Leadership) -> str | None:
    said = leadership.announced()
    return said.address if said is not None else None


async def _behind_the_scenes(
    app: App,
    surfaces: Surfaces,
    leadership: Leadership | None,
    answered: asyncio.Event,
    credentials: Credentials,
) -> None:
    """What waits for the first answer: full logging, jobs, and the pages while this process leads."""
    from assent.logs import configure_logging

    await answered.wait()
    await asyncio.to_thread(configure_logging, app.settings)
    gc.freeze()  # as in `serve`: a pause here holds up every process that waits for its turn to write
    await _warn_of_bad_key(surfaces.edge, credentials)
    if leadership is None:
        async with running_jobs(app):
            await asyncio.Event().wait()
        return
    while True:
        if not leadership.serve_wanted() and leadership.try_lead():
            try:
                await _lead(app, surfaces, leadership)
            except OSError as error:
                log.warning("this process cannot lead yet: %s", error)
            finally:
                leadership.step_down()
        await asyncio.sleep(POLL_SECONDS)


async def _warn_of_bad_key(edge: Edge, credentials: Credentials) -> None:
    """Each call says so too, to the agent; this is for the person who reads the log of a client."""
    refused = await edge.check_key(credentials, required=False)
    if refused is not None and refused.reason is Reason.INVALID_API_KEY:
        log.warning(
            "the key in ASSENT_API_KEY does not work, so every call is refused: it is mistyped, was revoked or "
            "replaced, has ended, or belongs to other data"
        )


async def _lead(app: App, surfaces: Surfaces, leadership: Leadership) -> None:
    try:
        listener: socket.socket | None = bind(app.settings)
    except SettingsError as error:
        log.warning("no pages from this process: %s", error)
        listener = None
    pages = asyncio.create_task(_pages_on_demand(surfaces, listener)) if listener is not None else None
    try:
        leadership.announce(app.settings.base_url if listener is not None else None)
        async with running_jobs(app):
            while not leadership.serve_wanted():  # noqa: ASYNC110 - another process's lock
                await asyncio.sleep(POLL_SECONDS)
    finally:
        if pages is not None:
            pages.cancel()
            await asyncio.gather(pages, return_exceptions=True)
        if listener is not None:
            listener.close()


async def _pages_on_demand(surfaces: Surfaces, listener: socket.socket) -> None:
    """Load the web server when somebody first knocks: most stdio processes never need it."""
    loop = asyncio.get_running_loop()
    knocked = asyncio.Event()
    loop.add_reader(listener, knocked.set)
    try:
        await knocked.wait()
    finally:
        loop.remove_reader(listener)
    server = await asyncio.to_thread(surfaces.server)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    finally:
        server.should_exit = True
        await serving
