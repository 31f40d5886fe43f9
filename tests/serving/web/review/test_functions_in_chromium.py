"""The pages of a function in a real browser, on a phone and at a desk."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from playwright.async_api import Browser
from tests.chromium import closed
from tests.serving.web.review.browser import served, violations, watched
from tests.serving.web.review.kit import Provider
from tests.serving.web.review.test_functions import BANK, describe, refund, refunds
from tests.serving.web.shell.screen import sign_in

from assent.gate.effects import EffectTypes, Scene
from assent.gate.records import Effect
from assent.gate.views import Table, View
from assent.suite.effect_types import effect_types

pytestmark = [pytest.mark.slow, pytest.mark.prove]

WIDE = Table("Wide", tuple(f"Column {n}" for n in range(8)), (("W" * 200, "", *(["short"] * 6)),))


def describe_widely(view: View, effect: Effect, scene: Scene) -> View:
    told = describe(view, effect, scene)
    return msgspec.structs.replace(told, blocks=(*told.blocks, WIDE))


async def test_arguments_and_blocks_fit_the_window_and_axe_finds_nothing(
    tmp_path: Path, browser: Browser
) -> None:
    kind = refunds(describe=describe_widely, approval_executes=True)
    types = EffectTypes((*effect_types(), kind), (BANK,))
    async with served(tmp_path, effects=types, connectors={"bank": Provider("bank")}) as house:
        run = await house.stage(refund(customer="W" * 90, letter="W" * 3_000, lines=[{"sku": "W" * 300}]))
        action_id = run.actions[0].id
        context = await browser.new_context()
        await sign_in(context, house)
        at = await watched(context, house.base_url)
        here = f"/runs/{run.run_id}"
        for path in (here, f"{here}/actions/{action_id}/edit", "/inbox"):
            await at.page.goto(house.base_url + path)
            assert await violations(at.page) == [], path
            for width in (320, 390, 1280):
                await at.page.set_viewport_size({"width": width, "height": 800})
                assert await at.page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert at.alarms == []
        await closed(context)
