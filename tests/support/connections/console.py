"""A server with its pages, a signed-in browser, and every provider behind it."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlencode

import httpx
from tests.support.connections.kit import Providers, consent, providers
from tests.support.review.kit import Server, send_form
from tests.support.surfaces import ManualClock

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.connection import Connection

WHERE = f"?workspace={LOCAL_WORKSPACE}"


def way_out(page: str) -> str:
    """Where the page that leaves for a provider goes on to."""
    found = re.search(r'http-equiv="refresh" content="0;url=([^"]+)"', page)
    assert found is not None, page
    return html.unescape(found.group(1))


class Console:
    """A server with its pages, a signed-in browser, and the providers."""

    def __init__(self, server: Server, far: Providers, browser: httpx.AsyncClient) -> None:
        self.server = server
        self.far = far
        self.browser = browser

    def keep_answers(self) -> list[str]:
        """All that the browser gets from now on, with its headers."""
        seen: list[str] = []

        async def keep(response: httpx.Response) -> None:
            await response.aread()
            seen.append(f"{response.headers} {response.text}")

        self.browser.event_hooks["response"] = [keep]
        return seen

    async def ask(self, provider: str, browser: httpx.AsyncClient | None = None) -> str:
        """Press the button; where the page goes on to."""
        answer = await send_form(browser or self.browser, f"/connect/{provider}{WHERE}", "/consent")
        assert answer.status_code == 200, answer.text
        return way_out(answer.text)

    async def back(
        self, provider: str, brought: dict[str, str], browser: httpx.AsyncClient | None = None
    ) -> httpx.Response:
        return await (browser or self.browser).get(f"/connect/{provider}/callback?{urlencode(brought)}")

    async def connect(self, provider: str) -> None:
        answer = await self.back(provider, await consent(await self.ask(provider)))
        assert (answer.status_code, answer.headers.get("location")) == (
            303,
            f"/connect/{provider}{WHERE}&did=connected",
        ), answer.text

    async def connection(self, provider: str) -> Connection | None:
        return await self.server.app.connections.find(LOCAL_WORKSPACE, provider)

    async def press(self, provider: str, ending: str, **fields: str) -> httpx.Response:
        return await send_form(self.browser, f"/connect/{provider}{WHERE}", f"/{ending}", **fields)


@asynccontextmanager
async def open_console(database_url: str, folder: Path, **changes: str | None) -> AsyncIterator[Console]:
    clock = ManualClock()
    async with providers(folder, clock) as far:
        given = {**far.settings(), **changes}
        server = Server(database_url, folder, clock=clock, built_in=True, **given)
        try:
            yield Console(server, far, await server.owner())
        finally:
            await server.close()
