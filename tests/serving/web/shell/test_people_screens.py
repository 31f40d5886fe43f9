"""Signing in, inviting, settings and the first run in a real browser."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect
from tests.chromium import closed
from tests.serving.web.review.kit import House, post
from tests.serving.web.shell.conftest import OpenScreen

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


async def test_nothing_is_cut_off_at_320_pixels(screen: OpenScreen, house: House) -> None:
    """As wide as a window of 640 pixels at 200 % zoom."""
    await house.stage(post(), post("site", connector="site", title="T" * 120, body="W" * 400))
    at = await screen("/inbox", width=320)
    for path in ("/inbox", "/settings/people", "/settings/notifications", "/settings/phone", "/start"):
        await at.goto(path)
        await at.fits()


async def test_somebody_is_invited_signs_in_decides_and_is_removed(
    screen: OpenScreen, house: House, browser: Browser
) -> None:
    run = await house.stage(post(body="Grace decides about this one on her own phone."))
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
    await page.goto(f"{house.base_url}/runs/{run.run_id}?action={run.actions[0].id}&open=approve")
    await page.get_by_role("button", name="Approve only").click()
    await expect(page.get_by_role("status")).to_contain_text("Approved.")
    action = await house.action(run.actions[0].id)
    assert action.approval is not None
    assert (action.approval.by, action.approval.assurance) == ("Grace Hopper", "client")

    await at.goto("/settings/people")
    await at.page.get_by_role("button", name="Remove Grace Hopper").click()
    await expect(at.page.get_by_text("Grace Hopper")).to_have_count(0)
    answer = await page.goto(f"{house.base_url}/inbox")
    assert answer is not None
    assert answer.status == 401
    await closed(context)


async def test_a_browser_is_signed_out_from_another_and_everywhere(screen: OpenScreen, house: House) -> None:
    one = await screen("/settings")
    two = await screen("/settings", allow=("401",))
    rows = one.page.get_by_role("button", name="Sign out")
    await one.goto("/settings")
    assert await rows.count() >= 2
    await one.page.get_by_role("button", name="Sign out everywhere").click()
    await expect(one.page.get_by_role("heading", level=1)).to_have_text("How to sign in")
    await two.goto("/inbox")
    await expect(two.page.get_by_role("heading", level=1)).to_have_text("Sign in first")


async def test_keys_are_made_and_ended_and_the_policy_is_changed(screen: OpenScreen, house: House) -> None:
    at = await screen("/settings/keys")
    await at.page.get_by_label("What it is for").fill("A test of the page")
    await at.page.get_by_role("button", name="Create key").click()
    await expect(at.page.locator(".copybox code").first).to_contain_text("clp_live_")
    await at.page.get_by_role("button", name="Revoke A test of the page").click()
    await expect(at.page.get_by_text("Revoked").first).to_be_visible()
    await at.goto("/settings/policy")
    await at.page.get_by_text("Two people for high risk.").first.click()
    await at.page.get_by_role("button", name="Save the policy").click()
    await expect(at.page.locator("main")).to_contain_text("High risk needs 2 different signed-in people.")
    await at.page.get_by_text("Your agent may pass on your yes.").first.click()
    await at.page.get_by_role("button", name="Save the policy").click()
    await expect(at.page.locator("main")).not_to_contain_text("High risk needs 2 different signed-in people.")


async def test_links_that_have_ended_say_how_to_get_a_fresh_one(screen: OpenScreen, house: House) -> None:
    run = await house.stage(post(body="A link to this one has ended, and the page says what to do."))
    at = await screen(f"/runs/{run.run_id}", signed_in=False, allow=("401", "403", "404"))
    await expect(at.page.get_by_role("heading", level=1)).to_have_text("Sign in to open this page")
    tampered = run.review_url[:-1] + ("A" if run.review_url[-1] != "A" else "B")
    await at.goto(tampered)
    await expect(at.page.locator("main")).to_contain_text("fresh review link")
    await at.goto("/sign-in/" + "A" * 54)
    await expect(at.page.locator("main")).to_contain_text("ask the person who invited you")
