"""A person who edits on the page may ask for the same in later drafts; an edit alone teaches nothing."""

from __future__ import annotations

import pytest
from tests.serving.web.review.kit import House, form, mail, post

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.learning import memory as brain
from assent.engine.learning.memory import Entry
from assent.gate.mail import ALONE

pytestmark = pytest.mark.anyio

ASKED = "Never use exclamation marks."


async def lessons(house: House) -> list[Entry]:
    return await house.app.store.read(
        lambda: brain.read(LOCAL_WORKSPACE, brain.DEFAULT_TENANT, kind="lesson", most=10)
    )


async def test_a_request_that_comes_with_an_edit_on_the_page_becomes_a_lesson(house: House) -> None:
    run = await house.stage(post(), post("x"))
    browser = await house.opened(run)
    first, second = (action.id for action in run.actions)

    await house.decide(browser, run.run_id, first, "edit", body="It waits for your yes.")
    silent = await lessons(house)
    await house.decide(browser, run.run_id, second, "edit", body="It waits for your yes.", asked=f" {ASKED} ")

    assert silent == []
    (lesson,) = await lessons(house)
    assert (lesson.body, lesson.action_id, lesson.state) == (ASKED, second, "confirmed")
    assert lesson.facts["by"] and lesson.facts["assurance"] == "link"


async def test_the_page_of_a_mail_to_named_people_asks_for_no_lesson(house: House) -> None:
    run = await house.stage(mail(metadata={ALONE: True}))
    browser, action_id = await house.opened(run), run.actions[0].id

    assert "asked" not in form(await house.page(browser, run.run_id), action_id, "edit").fields
    assert ASKED not in (await browser.get(f"/runs/{run.run_id}/actions/{action_id}/edit")).text
    await house.decide(browser, run.run_id, action_id, "edit", body="It waits.", asked=ASKED)

    assert await lessons(house) == []
