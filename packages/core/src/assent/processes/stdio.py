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

from assent.app import App
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.kernel.refusals import Reason
from assent.processes.listening import leadership_of
from assent.processes.serve import POLL_SECONDS, Surfaces, check_names, running_jobs, start_tracing
from assent.processes.stdio_pages import OwnPages, StdioPages
from assent.serving.edge import Answer, Credentials, Edge
from assent.serving.leader import Leadership
from assent.serving.stdio import Pipes, StdioSession
from assent.settings.load import Loaded, Settings
from assent.settings.secret_files import ensure_data_dir

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
