"""A screen of the console in a real browser, watched for everything that should not happen on it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from playwright.async_api import BrowserContext, Locator, Page, expect
from tests.support.chromium import closed
from tests.support.effort import pairs
from tests.support.review.browser import Watched, violations, watched
from tests.support.review.kit import Server

Test = TypeVar("Test", bound=Callable[..., Any])

LOOKS = pairs((390, 1280), (False, True))
"""Every screen is looked at on a phone and at a desk, light and dark."""


def every_look(test: Test) -> Test:
    """Run a test once for each width and colour scheme."""
    marked: Test = pytest.mark.prove(pytest.mark.parametrize(("width", "dark"), LOOKS)(test))
    return marked


REPORTS = """addEventListener("securitypolicyviolation",
  event => console.error("CSP: " + event.violatedDirective + " " + event.blockedURI))"""


async def sign_in(
    context: BrowserContext, server: Server, path: str | None = None, name: str = "Ada Lovelace"
) -> None:
    """Sign this browser in, on the page: it makes its key there."""
    page = await context.new_page()
    await page.goto(server.base_url + (path or await server.sign_in_path()))
    await page.get_by_label("Your name").fill(name)
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url(re.compile("/(inbox|start)$"))
    await closed(page)


async def confirm_when_asked(page: Page, count: Callable[[], None] = lambda: None) -> None:
    """Press the button of every confirm page that comes up, as a person who means it; `count` is told of each."""
    button = page.locator("#confirm-key:enabled")

    async def press() -> None:
        count()
        await button.click(no_wait_after=True)

    await page.add_locator_handler(button, press, no_wait_after=True)


class Screen:
    """An open page and the alarms it raised."""

    def __init__(self, seen: Watched, server: Server, allow: tuple[str, ...]) -> None:
        self.page: Page = seen.page
        self.server = server
        self._alarms = seen.alarms
        self._allow = allow
        self.clicks = 0
        """Of `click`, and of the confirm pages that came up."""

    def count(self) -> None:
        self.clicks += 1

    async def click(self, on: Locator) -> None:
        self.count()
        await on.click()

    @classmethod
    async def open(
        cls, context: BrowserContext, server: Server, path: str, allow: tuple[str, ...] = ()
    ) -> Screen:
        seen = await watched(context, server.base_url)
        await seen.page.add_init_script(REPORTS)
        made = cls(seen, server, allow)
        await confirm_when_asked(seen.page, made.count)
        await made.goto(path)
        return made

    async def goto(self, path: str) -> None:
        await self.page.goto(path if path.startswith("http") else self.server.base_url + path)

    def unexpected(self) -> list[str]:
        return [alarm for alarm in self._alarms if not any(text in alarm for text in self._allow)]

    async def check(self) -> None:
        """No axe violation, nothing wider than the window, and one main heading."""
        problems = await violations(self.page)
        assert problems == [], f"{self.page.url}: {problems}"
        assert await self.page.locator("h1").count() == 1, self.page.url
        await self.fits()

    async def fits(self) -> None:
        """Nothing is wider than the window."""
        sizes = await self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert sizes[0] <= sizes[1], f"{self.page.url} is {sizes[0]} wide in a window of {sizes[1]}"

    async def ready(self) -> None:
        """The live connection is open."""
        await expect(self.page.locator("body")).to_have_attribute("data-live", "on")
