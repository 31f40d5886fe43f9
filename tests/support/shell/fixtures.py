"""One Chromium and one server for all screens of the console, and a page of any width, light or dark."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext
from tests.support.chromium import closed
from tests.support.review.browser import served
from tests.support.review.kit import Server
from tests.support.shell.screen import Screen, sign_in

OpenScreen = Callable[..., Awaitable[Screen]]


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """A server that a browser can reach, shared by the tests of a module."""
    directory: Path = tmp_path_factory.mktemp("console")
    async with served(directory) as made:
        await made.app.prepare()
        yield made


@pytest.fixture
async def screen(browser: Browser, server: Server) -> AsyncIterator[OpenScreen]:
    """`await screen(path, width=390, dark=True)`: a watched page, signed in as the owner unless `signed_in=False`.

    Every page opened this way is closed with the test, and must have raised no console error, no report of the
    content security policy, no dialog and no request to elsewhere (`allow` names texts that a test expects).
    """
    async with AsyncExitStack() as opened:
        made: list[Screen] = []

        async def open_screen(
            path: str,
            *,
            width: int = 1280,
            dark: bool = False,
            signed_in: bool = True,
            script: bool = True,
            context: BrowserContext | None = None,
            allow: tuple[str, ...] = (),
        ) -> Screen:
            if context is None:
                context = await browser.new_context(
                    viewport={"width": width, "height": 900 if width > 600 else 844},
                    color_scheme="dark" if dark else "light",
                    reduced_motion="reduce",
                    java_script_enabled=script,
                )
                opened.push_async_callback(closed, context)
                if signed_in:
                    await sign_in(context, server)
            found = await Screen.open(context, server, path, allow)
            made.append(found)
            return found

        yield open_screen
        alarms = [alarm for each in made for alarm in each.unexpected()]
    assert alarms == [], alarms
