"""Signing in with an issuer in a real browser, from the button to the inbox."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.support.chromium import closed
from tests.support.people.oidc_kit import ANN, OidcServer, running_provider
from tests.support.review.browser import Doors, violations
from tests.support.sqlite_files import new_sqlite

pytestmark = pytest.mark.slow


async def test_a_person_signs_in_with_the_issuer_and_another_is_told_why_not(
    browser: Browser, tmp_path: Path
) -> None:
    doors = Doors()
    with running_provider() as provider:
        provider.knows("ann", **ANN)
        provider.knows("eve", email="eve@example.com", email_verified=True)
        url = new_sqlite(tmp_path / "assent.db")
        server = OidcServer(url, tmp_path, provider, base_url=doors.base_url)
        doors.open(server)
        try:
            context = await browser.new_context(viewport={"width": 390, "height": 844})
            page = await context.new_page()
            for subject in ("eve", "ann"):
                await page.goto(f"{doors.base_url}/sign-in")
                if subject == "eve":
                    assert await violations(page) == []
                await page.get_by_role("link", name="Sign in with Example ID").click()
                await page.locator('input[name="sub"]').fill(subject)
                await page.locator('form:has(input[name="sub"]) button').first.click()
                if subject == "eve":
                    await expect(page.get_by_role("heading", level=1)).to_have_text("You cannot sign in here")
                    assert await violations(page) == []
            await page.get_by_role("button", name="Sign in").click()
            await page.wait_for_url("**/start")
            assert "Ann Example" in await page.content()
            await closed(context)
        finally:
            await doors.close()
            await server.close()
