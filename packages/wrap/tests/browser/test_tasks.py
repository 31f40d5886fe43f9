"""What an owner does with the tools of a wrapped server, in a real browser, every click counted."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.support.chromium import closed
from tests.support.review.browser import Doors
from tests.support.shell.screen import Screen, sign_in
from tests.support.wrap.kit import Wrapped

from assent.engine.people import people
from assent_wrap import rulebook

pytestmark = pytest.mark.slow


class WrappedSite(Wrapped):
    """A wrapping server that a browser can reach."""

    def __init__(self, folder: Path, doors: Doors) -> None:
        super().__init__(f"sqlite:///{folder / 'assent.db'}", folder, base_url=doors.base_url)
        self.base_url = doors.base_url
        self.site = self.surfaces.site()

    async def sign_in_path(self) -> str:
        entropy, now_ms = os.urandom(people.ENTROPY_BYTES), self.clock.now_ms()
        token = await self.app.store.write(
            lambda: people.issue_link(entropy, now_ms, shown_to="terminal", person_id=people.OWNER)
        )
        return f"/sign-in/{token}"


@pytest.fixture
async def wrapped(tmp_path: Path) -> AsyncIterator[WrappedSite]:
    doors = Doors()
    made: Any = WrappedSite(tmp_path, doors)
    await made.app.prepare()
    doors.open(made)
    try:
        yield made
    finally:
        await doors.close()
        await made.close()


@pytest.mark.parametrize("width", [390, 1280])
async def test_a_tool_is_always_asked_about_after_three_clicks(
    browser: Browser, wrapped: Any, width: int
) -> None:
    client = await wrapped.open(trust=True)
    await client.names()
    context = await browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    await sign_in(context, wrapped)
    at = await Screen.open(context, wrapped, "/inbox")
    await at.click(at.page.get_by_role("link", name="Agents", exact=True).locator("visible=true"))
    await at.click(at.page.get_by_role("link", name="Wrapped tools"))
    await at.check()
    await at.click(at.page.get_by_role("button", name="Ask look"))

    await expect(at.page.get_by_text("Saved. It holds for the next call.")).to_be_visible()
    assert at.clicks == 3
    [server] = await rulebook.list_servers(wrapped.app.owner_services, wrapped.workspace_id)
    assert {each.name: each.mode for each in server.tools}["look"] == "gate"
    assert at.unexpected() == []
    await client.close()
    await closed(context)
