"""The pictures of a post on a real screen: seen, large enough, and picked with a tap."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser
from tests.serving.web.review.browser import served
from tests.serving.web.shell.screen import Screen
from tests.suite.operators.conftest import CLUB
from tests.surfaces import Surface

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

LOADED = "[...document.images].every(image => image.complete && image.naturalWidth > 0)"


@pytest.mark.parametrize("width", [390, 1280])
async def test_a_reviewer_sees_every_variant_and_picks_one_with_a_tap(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    async with served(tmp_path) as house:
        surface = Surface(house.app, house.surfaces, house.clock, "stdio")
        await surface.sign_in()
        asked = {**CLUB, "channels": ["linkedin"], "imagesNeeded": True}
        run = (await surface.call("chieflab_launch_product", asked)).payload
        action_id = run["actions"][0]["id"]
        light = run["images"][1]
        context = await browser.new_context(viewport={"width": width, "height": 900}, has_touch=True)
        screen = await Screen.open(context, house, run["reviewUrl"])
        page = screen.page

        shown = page.locator(f"#action-{action_id} figure.picture img").first
        box = await shown.bounding_box()
        assert box is not None
        assert min(300, width * 0.7) <= box["width"] <= width
        assert await shown.get_attribute("alt") == light["body"]

        await page.locator("details.decision.edit > summary").tap()
        choice = page.locator(f'input[name="imageAssetId"][value="{light["id"]}"]')
        await choice.scroll_into_view_if_needed()
        await page.wait_for_function(LOADED)
        await screen.check()
        await page.locator("label.picture-choice", has=choice).tap()
        await page.locator('details.decision.edit input[name="name"]').fill("Ada")
        await page.locator("details.decision.edit button[type=submit]").tap()
        await page.wait_for_url("**did=edit**")

        record = (await surface.call("chieflab_get_action", {"actionId": action_id})).payload
        assert [media["digest"] for media in record["content"]["media"]] == [light["metadata"]["digest"]]
        assert (record["status"], record["revision"]) == ("awaiting_approval", 2)
        await screen.check()
        assert screen.unexpected() == []
        await surface.http.aclose()
