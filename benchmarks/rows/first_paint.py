"""The first visit to an inbox with much on it, over a slow network: the time until Chromium paints something."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import uvicorn
from tests.support import chromium

from assent.engine.people import people
from assent.processes.serve import Surfaces
from benchmarks.figures import Figure, Limit, NotRun, compared
from benchmarks.rows.console_world import ACTIONS, filled
from benchmarks.rows.gate_world import world

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

SCRIPT: Final = """() => new Promise(done => {
  new PerformanceObserver(list => done(list.getEntries()[0].startTime)).observe({type: "paint", buffered: true});
})"""
SLOW: Final = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 93_750}
"""1.6 Mbit/s down and 150 ms."""
BUDGET_MS: Final = 800.0
LOOKS: Final = 7


def measure(scratch: Path) -> list[Figure]:
    if chromium.PROGRAM is None:
        raise NotRun(chromium.NO_CHROMIUM)
    painted = asyncio.run(_paint(scratch / "much"))
    work = f"inbox, {2 * ACTIONS:,} waiting actions: first paint at 1.6 Mbit/s and 150 ms"
    budget = [BUDGET_MS] * len(painted)
    return [compared(work, "the budget", "ms", painted, budget, successes=LOOKS, limit=Limit(times=1))]


async def _paint(data_dir: Path) -> list[float]:
    await filled(data_dir)
    with chromium.running_chromium() as address:
        async with chromium.connected(address) as browser, slowly(browser, data_dir) as (page, inbox):
            return [await paint(page, inbox) for _ in range(LOOKS)]


async def paint(page: Page, url: str) -> float:
    """Open a page. Returns the milliseconds until its first paint."""
    await page.goto(url)
    painted: float = await page.evaluate(SCRIPT)
    return painted


@asynccontextmanager
async def slowly(browser: Browser, data_dir: Path) -> AsyncIterator[tuple[Page, str]]:
    """A page of a signed-in person, over a slow network and with nothing in the cache, and where the inbox is."""
    async with at_the_door(data_dir) as (address, link):
        context = await browser.new_context(viewport={"width": 1280, "height": 900})
        await context.request.post(link, form={"name": "Ada"}, headers={"Sec-Fetch-Site": "same-origin"})
        page = await context.new_page()
        network = await context.new_cdp_session(page)
        await network.send("Network.enable")
        await network.send("Network.setCacheDisabled", {"cacheDisabled": True})
        await network.send("Network.emulateNetworkConditions", SLOW)
        yield page, f"{address}/inbox"
        await chromium.closed(context)


@asynccontextmanager
async def at_the_door(data_dir: Path) -> AsyncIterator[tuple[str, str]]:
    """The server of a data directory where a browser can reach it: its address, and a link to sign in."""
    app = world(data_dir)
    await app.prepare()
    entropy, now_ms = os.urandom(people.ENTROPY_BYTES), app.clock.now_ms()
    token = await app.store.write(lambda: people.issue_link(entropy, now_ms, shown_to="terminal"))
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(
        Surfaces(app).site(), log_config=None, lifespan="off", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield address, f"{address}/sign-in/{token}"
    finally:
        server.should_exit = True
        await task
        listener.close()
        await app.close()
