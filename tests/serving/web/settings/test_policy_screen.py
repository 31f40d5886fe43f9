"""The policy on its page: the same rules as in a file, with every problem named and nothing lost."""

from __future__ import annotations

import httpx
import pytest
from tests.serving.web.review.kit import House, forms

from assent.engine.actions import policies
from assent.engine.core.tenancy import LOCAL_WORKSPACE

RULE = '[[rule]]\nname = "Two for mail"\nwhen = { channel = "email" }\nask = { approvers = 2 }'


async def save(browser: httpx.AsyncClient, **typed: str) -> httpx.Response:
    page = await browser.get("/settings/policy")
    assert page.status_code == 200
    [form] = [each for each in forms(page.text) if each.address == "/settings/policy"]
    return await browser.post("/settings/policy", data={**form.fields, **typed})


@pytest.mark.own_database
async def test_rules_of_the_page_hold_and_are_shown_in_words(house: House) -> None:
    browser = await house.owner()
    assert (await save(browser, preset="people", rules=RULE)).status_code == 303
    page = (await browser.get("/settings/policy")).text
    assert "Two for mail: if the channel is email, it needs 2 different signed-in people." in page
    assert "Only people, signed in, and own rules." in page
    found = await house.app.store.read(lambda: policies.find_version(LOCAL_WORKSPACE))
    assert (found.version, found.source["preset"], found.by) == (1, "people", "owner")
    again = await save(browser, preset="relay")
    assert again.status_code == 303
    kept = await house.app.store.read(lambda: policies.find_version(LOCAL_WORKSPACE))
    assert kept.source["rule"] == found.source["rule"]


@pytest.mark.own_database
@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (RULE.replace("channel", "chanel"), "did you mean channel?"),
        (RULE.replace('"email"', "email"), "cannot be read"),
        (RULE.replace("ask", "allow"), "rule[1]"),
    ],
)
async def test_a_mistake_saves_nothing_and_keeps_what_was_typed(house: House, typed: str, said: str) -> None:
    browser = await house.owner()
    answer = await save(browser, preset="people", rules=typed)
    assert answer.status_code == 400
    assert "Nothing was saved" in answer.text
    assert said in answer.text
    [form] = [each for each in forms(answer.text) if each.address == "/settings/policy"]
    assert form.fields["rules"] == typed
    found = await house.app.store.read(lambda: policies.find_version(LOCAL_WORKSPACE))
    assert found.version == 0
