"""A real Chromium at a real server in this process."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from playwright.async_api import BrowserContext, Page
from tests.support.chromium import AXE
from tests.support.review.kit import Server
from tests.support.sqlite_files import new_sqlite

from assent.processes.serve import http_server

SIZES = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 900}}


class Doors:
    """A house's web server, which can be stopped and started again at the same address."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._listener = self._bound(0)
        self.base_url = f"http://{host}:{self._listener.getsockname()[1]}"
        self._task: asyncio.Task[None] | None = None
        self._server: Any = None

    def _bound(self, port: int) -> socket.socket:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        return listener

    def open(self, server: Server) -> None:
        if self._listener.fileno() < 0:
            self._listener = self._bound(int(self.base_url.rpartition(":")[2]))
            server.site = server.surfaces.site()
        self._server = http_server(server.site, server.surfaces.end_streams)
        self._task = asyncio.create_task(self._server.serve(sockets=[self._listener]))

    async def close(self) -> None:
        self._server.should_exit = True
        if self._task is not None:
            await self._task
        self._listener.close()


@asynccontextmanager
async def served(tmp_path: Path, *, host: str = "127.0.0.1", **options: Any) -> AsyncIterator[Server]:
    """A house whose pages a browser can reach; its `doors` can be closed and opened."""
    doors = Doors(host)
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path, doors.base_url, **options)
    server.doors = doors
    doors.open(server)
    try:
        yield server
    finally:
        await doors.close()
        await server.close()


class Watched(msgspec.Struct):
    """A page and everything on it that should not happen: dialogs, console errors, requests to elsewhere."""

    page: Page
    alarms: list[str]


async def watched(context: BrowserContext, base_url: str) -> Watched:
    page = await context.new_page()
    alarms: list[str] = []

    async def dialog(opened: Any) -> None:
        alarms.append(f"dialog: {opened.message}")
        await opened.dismiss()

    page.on("dialog", dialog)
    page.on(
        "console", lambda said: alarms.append(f"{said.type}: {said.text}") if said.type == "error" else None
    )
    page.on("pageerror", lambda error: alarms.append(f"error: {error}"))
    page.on(
        "request",
        lambda request: (
            alarms.append(f"request: {request.url}")
            if not request.url.startswith((base_url, "data:"))
            else None
        ),
    )
    return Watched(page, alarms)


COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""The rules of axe whose answer depends on colours."""


JUDGE = """async options => {
  const { violations, incomplete } = await axe.run(document, options);
  // axe leaves text open that has the colour of its ground. No one can read it.
  const unseen = (node) => node.any.some((each) => each.data?.messageKey === "equalRatio");
  return [...violations, ...incomplete.map((each) => ({ ...each, nodes: each.nodes.filter(unseen) }))]
    .filter((each) => each.nodes.length);
}"""


async def violations(page: Page, only: tuple[str, ...] = ()) -> list[str]:
    """What axe finds wrong with a page, for WCAG 2.2 AA and its best practices, or by the rules `only`."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations", "incomplete"], "preload": False} | (
        {"runOnly": [*only]} if only else {}
    )
    found = await page.evaluate(JUDGE, options)
    return [f"{each['id']}: {[node['html'][:160] for node in each['nodes'][:3]]}" for each in found]
