"""Signing in, inviting, settings and the first run in a real browser."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect
from tests.support.chromium import closed
from tests.support.review.kit import Server, post
from tests.support.shell.fixtures import OpenScreen

pytestmark = pytest.mark.slow


async def test_somebody_is_invited_signs_in_decides_and_is_removed(
    screen: OpenScreen, server: Server, browser: Browser
) -> None:
    run = await server.stage(post(body="Grace decides about this one on her own phone."))
    at = await screen("/settings/people")
    await at.page.get_by_label("Name").fill("Grace Hopper")
    await at.page.get_by_role("button", name="Create invite link").click()
    await expect(at.page.get_by_role("heading", name="Give this link to Grace Hopper")).to_be_visible()
    link = (await at.page.locator(".copybox code").inner_text()).strip()
    await at.check()

    context = await browser.new_context(viewport={"width": 390, "height": 844})
    page = await context.new_page()
    await page.goto(link)
    await expect(page.get_by_label("Your name")).to_have_value("Grace Hopper")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Inbox")
    again = await context.new_page()
    answer = await again.goto(link)
    assert answer is not None
    assert answer.status == 404
    await page.goto(f"{server.base_url}/runs/{run.run_id}?action={run.actions[0].id}&open=approve")
    await page.get_by_role("button", name="Approve only").click()
    await expect(page.get_by_role("status")).to_contain_text("Approved.")
    action = await server.action(run.actions[0].id)
    assert action.approval is not None
    assert (action.approval.by, action.approval.assurance) == ("Grace Hopper", "client")

    await at.goto("/settings/people")
    await at.page.get_by_role("button", name="Remove Grace Hopper").click()
    await expect(at.page.locator("li strong bdi")).to_have_text(["Ada Lovelace"])
    answer = await page.goto(f"{server.base_url}/inbox")
    assert answer is not None
    assert answer.status == 401
    await closed(context)
