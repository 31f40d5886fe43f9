"""One Chromium for each worker: a test module connects to it and gets contexts of its own, as private windows are."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

PROGRAM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""The shell is the same engine without the windows around it, for half of the work."""
AXE = Path(__file__).resolve().parents[2] / ".node" / "node_modules" / "axe-core" / "axe.min.js"
NO_CHROMIUM = "Chromium is not installed (Debian: apt-get install chromium-headless-shell)"
NO_AXE = "axe is not installed (make test brings it where npm is there)"
LISTENS = "DevTools listening on "
CLOSE_SECONDS = 20.0
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--no-first-run",
    "--disable-back-forward-cache",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-prompt-on-repost",
    "--disable-renderer-backgrounding",
    "--disable-sync",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
    "--remote-debugging-port=0",
)


@contextmanager
def running_chromium() -> Iterator[str]:
    """A Chromium of this process and the address to connect to."""
    assert PROGRAM is not None, NO_CHROMIUM
    with tempfile.TemporaryDirectory(prefix="assent-chromium-", ignore_cleanup_errors=True) as profile:
        command = [PROGRAM, *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            yield _address(process)
        finally:
            # Debian's program is a script that starts the browser: its whole group has to go.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    lines: list[str] = []
    for line in process.stderr:
        if line.startswith(LISTENS):
            # The rest is read and dropped: a full pipe would stop the browser.
            threading.Thread(target=_drain, args=(process.stderr,), daemon=True).start()
            return line.removeprefix(LISTENS).strip()
        lines.append(line)
    raise RuntimeError(f"Chromium ended: {''.join(lines)[-2000:]}")


def _drain(pipe: IO[str]) -> None:
    with pipe:
        for _ in pipe:
            pass


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[Browser]:
    """The browser at this address, seen from the running event loop."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(address)
        try:
            yield browser
        finally:
            await closed(browser)


async def closed(opened: Browser | BrowserContext | Page) -> None:
    """Close it. A busy machine's Chromium may never say that it has: what a test has found out stands all the same, and
    what is left goes with the browser."""
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await opened.close()


@pytest.fixture(scope="session")
def chromium_address() -> Iterator[str]:
    """Where the one Chromium of this worker listens."""
    if PROGRAM is None:
        pytest.skip(NO_CHROMIUM)
    if not AXE.exists():
        pytest.skip(NO_AXE)
    with running_chromium() as address:
        yield address


@pytest.fixture(scope="module")
async def browser(chromium_address: str) -> AsyncIterator[Browser]:
    """The Chromium of this worker, connected for a module's tests, which share an event loop for it."""
    async with connected(chromium_address) as found:
        yield found
