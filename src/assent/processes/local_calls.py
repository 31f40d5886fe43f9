"""Tools of a server on the same data directory, called in this process and without a key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from assent.app import App
from assent.client import Refused
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.processes.listening import leadership_of
from assent.processes.serve import Surfaces
from assent.serving.edge import Credentials, Edge, RequestContext
from assent.settings.load import Settings
from assent.settings.welcome import in_shell, own_command


class LocalCaller:
    """Calls tools as the local owner of the data."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge
        self._context = RequestContext(Credentials(local=LOCAL_PRINCIPAL), "local", "hook")

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its payload. Raises `Refused`."""
        answer = await self._edge.answer(tool, arguments, self._context)
        if answer.is_error:
            raise Refused(answer.value)
        return answer.value


@asynccontextmanager
async def open_local(settings: Settings) -> AsyncIterator[LocalCaller]:
    """Open the store beside the process that serves its pages. Raises `Refused` if there is none."""
    address: str | None = settings.base_url
    if settings.sqlite_path is not None:
        said = leadership_of(settings, "hook").announced()
        address = said.address if said is not None else None
    if address is None:
        start = in_shell(own_command(settings, "serve"))
        said_so = f"No server runs on this data, so no one could approve it. Ask the user to run: {start}"
        raise Refused({"reason": "no_server", "userMessage": said_so})
    app = App(settings, page_address=lambda: address, one_client=True)
    try:
        yield LocalCaller(Surfaces(app).edge)
    finally:
        await app.close()
