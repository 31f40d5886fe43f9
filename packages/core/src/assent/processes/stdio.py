"""`assent stdio`: the server as an MCP client starts it.

If this process leads its data directory, it also serves the pages after its first answer, so that
review links work without `assent serve`. It gives way to `assent serve`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from assent.app import App
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.kernel.refusals import Reason
from assent.net.loopback import LOOPBACKS
from assent.processes.listening import leadership_of, listen, other_ports
from assent.processes.serve import POLL_SECONDS, Surfaces, check_names, running_jobs, start_tracing
from assent.serving.edge import Answer, Credentials, Edge
from assent.serving.leader import Leadership
from assent.serving.stdio import Pipes, StdioSession
from assent.settings.client_config import in_shell, own_command
from assent.settings.load import Loaded, Settings, own_address
from assent.settings.secret_files import ensure_data_dir

if TYPE_CHECKING:
    import socket

    import uvicorn

log = logging.getLogger("assent.process")


def stdio(loaded: Loaded) -> int:
    """Run `assent stdio` until its client disconnects. Returns the exit status."""
    from assent.settings.logs import start_logging

    start_logging(loaded)
    return asyncio.run(_stdio(loaded.settings))


async def _stdio(settings: Settings) -> int:
    pipes = Pipes()
    ensure_data_dir(settings.data_dir)
    leadership = leadership_of(settings, "stdio")
    pages = StdioPages(settings, leadership)
    app = App(
        settings,
        page_address=lambda: pages.address,
        find_pages=pages.find,
        link_note=pages.note,
        one_client=True,
    )
    check_names(app)
    surfaces = Surfaces(app, lambda: pages.own)
    surfaces.edge.tracer = start_tracing(os.environ)
    answered = asyncio.Event()
    credentials = (
        Credentials(api_key=settings.api_key) if settings.api_key else Credentials(local=LOCAL_PRINCIPAL)
    )
    behind = asyncio.create_task(_start_background(app, surfaces, pages, leadership, answered, credentials))
    try:
        await StdioSession(surfaces.messages, credentials, pipes.write, answered.set).run(pipes.lines())
    finally:
        behind.cancel()
        await asyncio.gather(behind, return_exceptions=True)
        pages.close()
        await app.close()
        leadership.release()
        pipes.close()
    return 0


async def _start_background(
    app: App,
    surfaces: Surfaces,
    pages: StdioPages,
    leadership: Leadership,
    answered: asyncio.Event,
    credentials: Credentials,
) -> None:
    """Start after the first answer: jobs, and the pages while leading."""
    await answered.wait()
    await asyncio.to_thread(lambda: app.extensions)  # before the pages, which would wait for them
    gc.freeze()  # as in `serve`: a pause here blocks every process that waits to write
    await _warn_of_bad_key(surfaces.edge, credentials)
    shared = app.store.dialect != "sqlite"
    async with contextlib.AsyncExitStack() as whole, OwnPages(surfaces.server, pages) as own:
        if shared:
            await whole.enter_async_context(running_jobs(app))
        while True:
            if not pages.elsewhere and not leadership.serve_wanted() and leadership.try_lead():
                usual = False
                try:
                    pages.open()
                    own.start()
                    usual = pages.listens_as_usual
                    async with contextlib.nullcontext(_do_nothing) if shared else running_jobs(app) as stop:
                        while not leadership.serve_wanted():  # noqa: ASYNC110 - another process's lock
                            await asyncio.sleep(POLL_SECONDS)
                        # `serve` does not wait for the jobs and calls in flight here: they end beside it.
                        stop()
                        if usual:
                            await own.free_port()  # `serve` wants it; links to another port keep working
                        leadership.step_down()
                except OSError as error:
                    log.warning("this process cannot lead yet: %s", error)
                finally:
                    if usual:
                        await own.stop()
                    leadership.step_down()
            await asyncio.sleep(POLL_SECONDS)


def _do_nothing() -> None:
    """No job runs only while this process leads."""


async def _warn_of_bad_key(edge: Edge, credentials: Credentials) -> None:
    """Log a bad key for the person who reads the client's log. Each call also tells the agent."""
    checked = await edge.check_key(credentials, required=False)
    if isinstance(checked, Answer) and checked.reason is Reason.INVALID_API_KEY:
        log.warning(
            "the key in ASSENT_API_KEY does not work, so every call is refused: it is mistyped, was revoked or "
            "replaced, has ended, or belongs to other data"
        )


# The address of the pages that a `stdio` process links to.
#
# It hands out links to the server on the same data. If there is none, it listens itself, on another port if the usual
# one is taken. A file lock proves that an announced address is current; asking the port would not, because any program
# could answer.


FIND_SECONDS: Final = 3.0
"""How long a call waits for a starting server to announce its pages."""


class StdioPages:
    """Finds the base URL for the links of a `stdio` process."""

    def __init__(self, settings: Settings, leadership: Leadership) -> None:
        self._settings = settings
        self._leadership = leadership
        self._usual = own_address(settings.host, settings.port)
        self.listeners: list[socket.socket] = []
        self.own: str | None = None
        """The address that this process listens on."""
        self.address: str | None = None
        """The base URL for links, as of the last look; None if no process serves pages."""
        self._passing = False

    @property
    def elsewhere(self) -> bool:
        """Whether the settings name the pages' URL, which other machines may serve too."""
        return self._settings.sqlite_path is None and self._settings.base_url != self._usual

    @property
    def listens_as_usual(self) -> bool:
        return bool(self.listeners) and self.listeners[0].getsockname()[1] == self._settings.port

    def look(self) -> str | None:
        """Find the pages now: of a server, else of another `stdio` process, else our own."""
        if self.elsewhere:
            self.address = self._settings.base_url
            return self.address
        said = self._leadership.announced()
        if said is not None and said.address is not None:
            self.address, self._passing = said.address, said.role != "serve"
        elif self._leadership.leads or (not self._leadership.serve_wanted() and self._leadership.try_lead()):
            self.open()
        else:
            self.address = None
        return self.address

    async def find(self) -> None:
        """`look`, with a short wait for a process that is about to announce its pages."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + FIND_SECONDS
        with contextlib.suppress(OSError):
            # If this process leads and found no port, waiting does not help.
            while self.look() is None and not self._leadership.leads and loop.time() < give_up:  # noqa: ASYNC110 - another process says it
                await asyncio.sleep(0.05)

    def open(self) -> None:
        """Listen, and announce it to the other processes on this data."""
        if not self.listeners:
            self.listeners, self.own = self._listen()
        self.address, self._passing = self.own, True
        self._leadership.announce(self.own)

    def _listen(self) -> tuple[list[socket.socket], str | None]:
        # The address of the settings is https then, which a chat's own pages are not.
        usual_ports = () if self._settings.tls_cert is not None else (self._settings.port,)
        for port in (*usual_ports, *other_ports(self._settings)):
            host = self._settings.host if port == self._settings.port else LOOPBACKS[0]
            with contextlib.suppress(OSError):
                made = listen(host, port)
                usual = self._settings.base_url
                return made, usual if port == self._settings.port else own_address(host, port)
        log.warning("no pages from this process: every port that it tried is in use")
        return [], None

    def close(self) -> None:
        for each in self.listeners:
            each.close()
        self.listeners, self.own = [], None

    def note(self) -> str | None:
        """Return the note beside a link that ends with this process; None if it is permanent."""
        if self.address is None or self.elsewhere or not self._passing:
            return None
        words = ["serve"]
        if self.address not in (self._usual, self._settings.base_url):
            words += ["--port", self.address.rpartition(":")[2]]
        keep = in_shell(own_command(self._settings, *words))
        return f"Tell the user: links work while this chat is open. To keep them, start the server: `{keep}`"


class OwnPages:
    """The pages served by this process."""

    def __init__(self, make_server: Callable[[], uvicorn.Server], pages: StdioPages) -> None:
        self._make_server = make_server
        self._pages = pages
        self._serving: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None

    async def __aenter__(self) -> OwnPages:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def start(self) -> None:
        if self._serving is None and self._pages.listeners:
            self._serving = asyncio.create_task(_serve_on_demand(self._make_server, self._pages.listeners))

    async def free_port(self) -> None:
        """Begin to stop, and return once the port is free. `stop` waits for calls in flight."""
        listeners = self._pages.listeners
        if self._stopping is None or self._stopping.done():
            self._stopping = asyncio.create_task(self._stop())
        while not self._stopping.done() and any(each.fileno() >= 0 for each in listeners):  # noqa: ASYNC110 - closed by the web server
            await asyncio.sleep(0.02)

    async def stop(self) -> None:
        if self._stopping is None or self._stopping.done():
            self._stopping = asyncio.create_task(self._stop())
        await self._stopping

    async def _stop(self) -> None:
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
            self._serving = None
        self._pages.close()


async def _serve_on_demand(make_server: Callable[[], uvicorn.Server], listeners: list[socket.socket]) -> None:
    """Load the web server at the first connection: most stdio processes never need it."""
    loop = asyncio.get_running_loop()
    knocked = asyncio.Event()
    for listener in listeners:
        loop.add_reader(listener, knocked.set)
    try:
        await knocked.wait()
    finally:
        for listener in listeners:
            loop.remove_reader(listener)
    server = await asyncio.to_thread(make_server)
    serving = asyncio.create_task(server.serve(sockets=listeners))
    try:
        await asyncio.shield(serving)
    finally:
        server.should_exit = True
        await serving
