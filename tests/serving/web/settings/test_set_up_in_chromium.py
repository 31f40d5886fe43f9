"""Setting up in a real browser, each task with the clicks it takes; and every screen of it in every size and colour."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.chromium import closed
from tests.serving.web.review.browser import served
from tests.serving.web.review.kit import House
from tests.serving.web.shell.screen import Screen, sign_in

from assent.engine.core.tenancy import LOCAL_PRINCIPAL

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.fixture(scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A server as it is started, with the connectors that come along."""
    allowed: Any = ("127.0.0.1",)
    folder: Path = tmp_path_factory.mktemp("office")
    async with served(folder, host="localhost", built_in=True, allow_hosts=allowed) as made:
        await made.app.prepare()
        yield made


OpenPage = Callable[..., Awaitable[Screen]]


@pytest.fixture
async def at_desk(browser: Browser, office: House) -> AsyncIterator[OpenPage]:
    """A watched page of a signed-in owner. Nothing unexpected may happen on it."""
    async with AsyncExitStack() as opened:
        made: list[Screen] = []

        async def open_page(path: str, *, signed_in: bool = True) -> Screen:
            context = await browser.new_context(
                viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
            )
            opened.push_async_callback(closed, context)
            if signed_in:
                await sign_in(context, office)
            found = await Screen.open(context, office, path, ("404 (Not Found)",))
            made.append(found)
            return found

        yield open_page
        assert [alarm for each in made for alarm in each.unexpected()] == []


async def test_the_first_call_of_a_client_ticks_its_step_on_the_open_page(
    at_desk: OpenPage, office: House
) -> None:
    at = await at_desk("/start")
    await expect(at.page.locator("#client-step")).to_contain_text("Waiting for your client")
    office.app.callers.note(LOCAL_PRINCIPAL, office.clock.now_ms())
    await office.app.callers.flush()
    await expect(at.page.locator("#client-step")).to_contain_text("Connected", timeout=10_000)
