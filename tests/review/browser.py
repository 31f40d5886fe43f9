"""A real Chromium at a real server in this process."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from tests.review.kit import House

CHROMIUM = "/usr/bin/chromium"
QUIET = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
AXE = Path(__file__).resolve().parents[2] / ".node" / "node_modules" / "axe-core" / "axe.min.js"
SIZES = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 900}}


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


@asynccontextmanager
async def served(tmp_path: Path) -> AsyncIterator[House]:
    """A house whose pages a browser can reach."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    base_url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    house = House(f"sqlite:///{tmp_path / 'assent.db'}", tmp_path, base_url)
    server = _Server(uvicorn.Config(house.site, log_config=None, lifespan="off"))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield house
    finally:
        server.should_exit = True
        await task
        await house.close()
        listener.close()


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        try:
            yield browser
        finally:
            await browser.close()


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


async def violations(page: Page) -> list[str]:
    """What axe finds wrong with a page, for WCAG 2.2 AA and its best practices."""
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    found = await page.evaluate(
        "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"
    )
    return [f"{each['id']}: {[node['html'][:160] for node in each['nodes'][:3]]}" for each in found]
