"""The screens that look back, in a real browser: what a choice filters at once, and the time zone of a browser."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect
from tests.support.review.kit import Server, post
from tests.support.shell import stories
from tests.support.shell.fixtures import OpenScreen

pytestmark = pytest.mark.slow


async def test_a_day_of_the_histogram_and_a_choice_filter_at_once(screen: OpenScreen, server: Server) -> None:
    for goal in ("Autumn subscription", "Tasting room opens"):
        await stories.launch(server, goal, post())
        server.clock.advance(days=6)
    at = await screen("/runs")
    await at.page.locator(".histogram a:has(.bar)").first.click()
    await expect(at.page.locator(".run-rows > li")).to_have_count(1)
    await expect(at.page.locator(".run-rows")).to_contain_text("Autumn subscription")
    await at.page.get_by_role("link", name="All time").click()
    await expect(at.page.locator(".run-rows > li").nth(1)).to_be_visible()
    await at.goto("/audit")
    await at.page.get_by_text("More filters").click()
    await at.page.get_by_label("Where", exact=True).select_option("server")
    await expect(at.page).to_have_url(re.compile("scope=server"))
    await expect(at.page.locator("main")).to_contain_text("signed in")


async def test_the_zone_of_the_browser_is_taken_when_a_person_first_signs_in(
    screen: OpenScreen, server: Server
) -> None:
    at = await screen("/settings")
    zone = await at.page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
    await expect(at.page.get_by_label("Show times in")).to_have_value(zone if "/" in zone else "")
    await at.page.get_by_label("Show times in").select_option("Europe/Oslo")
    await at.page.get_by_role("button", name="Save the time zone").click()
    await expect(at.page).to_have_url(re.compile("did=zone"))
    await at.goto("/audit")
    await expect(at.page.locator("main")).to_contain_text("Times in Europe/Oslo")
