"""Connecting in a real browser, against the emulated providers: on a phone and at a desk."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect
from tests.support.chromium import closed
from tests.support.connections.kit import Providers, providers
from tests.support.review.browser import served
from tests.support.review.kit import Server
from tests.support.shell.screen import Screen, every_look, sign_in
from tests.support.surfaces import ManualClock

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent_conform.emulators import zernio

pytestmark = pytest.mark.slow


class Site:
    """A server that a browser reaches, the providers behind it, and every answer that the browser got."""

    def __init__(self, server: Server, far: Providers, browser: Browser) -> None:
        self.server = server
        self.far = far
        self.seen: list[str] = []
        self._browser = browser
        self._stack = AsyncExitStack()

    async def context(self, *, width: int = 1280, dark: bool = False, script: bool = True) -> BrowserContext:
        context = await self._browser.new_context(
            viewport={"width": width, "height": 844},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
        )
        self._stack.push_async_callback(closed, context)
        await sign_in(context, self.server)
        return context

    async def open(self, context: BrowserContext, path: str) -> Screen:
        allow = (self.far.google.url, self.far.hubspot.url)
        screen = await Screen.open(context, self.server, path, allow)
        screen.page.on("response", lambda answer: self.seen.append(f"{answer.url} {answer.headers}"))
        return screen

    async def close(self) -> None:
        await self._stack.aclose()


@pytest.fixture
async def site(browser: Browser, tmp_path: Path) -> AsyncIterator[Site]:
    clock = ManualClock()
    async with (
        providers(tmp_path, clock) as far,
        served(tmp_path, clock=clock, built_in=True, **far.settings()) as server,
    ):
        await server.app.prepare()
        made = Site(server, far, browser)
        try:
            yield made
        finally:
            await made.close()


async def allow(page: Page, label: str, grantor: str) -> None:
    """From the page of a provider to its consent page and back."""
    await page.get_by_role("button", name=f"Continue to {grantor}").click()
    await page.get_by_role("button", name="Allow").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text(label)
    await expect(page.get_by_role("status")).to_contain_text("Connected")


async def test_google_and_hubspot_are_connected_by_consent(site: Site) -> None:
    context = await site.context(width=390)
    at = await site.open(context, "/connect")
    page = at.page
    await page.get_by_role("link", name="Connect Google Analytics 4").click()
    await allow(page, "Google Analytics 4", "Google")
    assert "code=" not in page.url and "state=" not in page.url
    await page.get_by_role("radio", name="Assent").check()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status")).to_contain_text("Saved")
    await expect(page.locator("dl.facts")).to_contain_text("1234")

    await page.locator(".crumbs").get_by_role("link", name="Connections").click()
    await page.get_by_role("link", name="Connect Google Search Console").click()
    await allow(page, "Google Search Console", "Google")
    await page.get_by_role("radio", name="https://example.org/").check()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status")).to_contain_text("Saved")

    await page.locator(".crumbs").get_by_role("link", name="Connections").click()
    await page.get_by_role("link", name="Connect HubSpot").click()
    await allow(page, "HubSpot", "HubSpot")
    await expect(page.locator("dl.facts")).to_contain_text("HubSpot account 62515")

    for provider in ("ga4", "search_console", "hubspot"):
        connection = await site.server.app.connections.find(LOCAL_WORKSPACE, provider)
        assert connection is not None and connection.live
    assert at.unexpected() == []


async def test_without_scripts_nothing_is_connected_and_the_page_says_what_to_do(site: Site) -> None:
    at = await site.open(await site.context(script=False), "/connect/zernio")
    await at.page.get_by_label("Key").fill(zernio.KEY)
    await at.page.get_by_role("button", name="Check and connect").click()
    await expect(at.page.get_by_role("heading", level=1)).to_have_text("Connect Zernio?")
    await expect(at.page.get_by_text("sign in here again with a new link", exact=False)).to_be_visible()
    assert await at.page.get_by_role("button").count() == 0
    assert zernio.KEY not in await at.page.content()
    assert await site.server.app.connections.find(LOCAL_WORKSPACE, "zernio") is None


async def test_disconnecting_asks_once_more(site: Site) -> None:
    at = await site.open(await site.context(width=390), "/connect/hubspot")
    await allow(at.page, "HubSpot", "HubSpot")
    button = at.page.get_by_role("button", name="Yes, disconnect")
    await expect(button).to_be_hidden()
    await at.page.locator("summary", has_text="Disconnect").click()
    await button.click()
    await expect(at.page.get_by_role("status")).to_contain_text("destroyed")
    connection = await site.server.app.connections.find(LOCAL_WORKSPACE, "hubspot")
    assert connection is not None and connection.state == "revoked"


@every_look
async def test_every_state_of_the_pages_is_readable_by_everybody(site: Site, width: int, dark: bool) -> None:
    context = await site.context(width=width, dark=dark)
    at = await site.open(context, "/connect/ga4")
    await at.check()
    await allow(at.page, "Google Analytics 4", "Google")
    await at.check()
    await at.page.get_by_role("button", name="Save").click()
    await expect(at.page.get_by_role("status")).to_contain_text("Saved")
    await at.page.locator("summary", has_text="Disconnect").click()
    await at.check()
    await at.goto("/connect/ga4?choose=1")
    await at.check()
    connection = await site.server.app.connections.find(LOCAL_WORKSPACE, "ga4")
    assert connection is not None
    await site.server.app.connections.mark_expired(connection, "Google does not accept it any more")
    await at.goto("/connect/ga4")
    await expect(at.page.get_by_role("heading", name="The connection has ended")).to_be_visible()
    await at.check()
    await at.goto("/connect/zernio")
    await at.page.get_by_label("Key").fill(zernio.KEY)
    await at.page.get_by_role("button", name="Check and connect").click()
    await expect(at.page.get_by_role("status")).to_contain_text("Connected")
    await at.page.locator("summary", has_text="Connect with another key").click()
    await at.check()


@pytest.mark.rule("E8")
async def test_a_browser_that_connects_sees_no_token(site: Site, whole_log: io.StringIO) -> None:
    at = await site.open(await site.context(), "/connect/hubspot")
    await allow(at.page, "HubSpot", "HubSpot")
    page = await at.page.content()
    cookies = repr(await at.page.context.cookies())
    rows = repr(await site.server.everything())

    tokens = [*site.far.hubspot.access, *site.far.hubspot.refresh, site.far.hubspot.client.client_secret]
    assert len(tokens) == 3
    seen = {"pages": page, "answers": "".join(site.seen), "cookies": cookies, "rows": rows}
    for name, text in {**seen, "log": whole_log.getvalue()}.items():
        assert [token for token in tokens if token in text] == [], name
    # The code passes through the browser, and stays nowhere on our side.
    for name, text in (("page", page), ("rows", rows), ("log", whole_log.getvalue())):
        assert [code for code in site.far.hubspot.codes if code in text] == [], name
