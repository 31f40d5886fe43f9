"""A link delivers one key to one human, once; looking at it changes nothing (E93, C26)."""

from __future__ import annotations

import pytest
from markupsafe import escape
from tests.support.people.fixtures import KEY, Site

from assent.engine.core import tenancy


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_looking_at_a_link_changes_nothing(site_on_any_store: Site, method: str) -> None:
    site = site_on_any_store
    path = await site.link()
    before = await site.everything()

    for _ in range(3):
        assert (await site.browser.request(method, path)).status_code == 200

    assert await site.everything() == before


async def test_the_link_says_whose_workspace_it_makes_and_offers_one_button(site: Site) -> None:
    page = (await site.browser.get(await site.link("Acme", "ada@example.org"))).text

    assert "Acme" in page
    assert "ada@example.org" in page
    assert page.count("<button") == 1
    assert 'method="post"' in page
    assert KEY.search(page) is None


@pytest.mark.rule("E93")
async def test_the_button_shows_a_key_that_opens_the_workspace(site_on_any_store: Site) -> None:
    site = site_on_any_store
    page = await site.browser.post(await site.link("Acme"))

    assert page.status_code == 200
    (key,) = set(KEY.findall(page.text))
    principal = await site.store.read(lambda: tenancy.authenticate(key, site.clock.now_ms()))
    assert principal.workspace_name == "Acme"


async def test_the_key_comes_with_settings_for_each_client(site: Site) -> None:
    page = (await site.browser.post(await site.link())).text

    (key,) = set(KEY.findall(page))
    assert f"Authorization: Bearer {key}" in page
    assert f"&#34;ASSENT_API_KEY&#34;: &#34;{key}&#34;" in page
    assert "http://127.0.0.1:8080/api/mcp" in page
    assert f'readonly value="{key}"' in page


async def test_of_twenty_presses_at_once_exactly_one_shows_a_key(site_on_any_store: Site) -> None:
    site = site_on_any_store
    answers = await site.gather(20, await site.link())

    shown = [answer for answer in answers if KEY.search(answer.text)]
    assert len(shown) == 1
    assert shown[0].status_code == 200
    assert {answer.status_code for answer in answers} == {200, 404}
    stored = await site.everything()
    assert len(stored["workspaces"]) == 1
    assert len(stored["api_keys"]) == 1


async def test_the_key_itself_is_stored_nowhere(site: Site) -> None:
    (key,) = set(KEY.findall((await site.browser.post(await site.link())).text))

    assert key not in repr(await site.everything())


async def test_used_expired_unknown_and_malformed_links_get_one_answer(site: Site) -> None:
    expired = await site.link("Late")
    site.clock.advance(days=2)
    used = await site.link("Used")
    assert (await site.browser.post(used)).status_code == 200
    altered = used[:-1] + ("A" if used[-1] != "A" else "B")
    paths = (used, expired, altered, "/claim/x", "/claim/" + "A" * 54, "/claim/%00%ff", "/claim/" + "é" * 54)

    answers = [await site.browser.request(method, path) for path in paths for method in ("GET", "POST")]

    assert {answer.status_code for answer in answers} == {404}
    assert len({(answer.content, repr(sorted(answer.headers.items()))) for answer in answers}) == 1
    assert 'href="/get-key"' in answers[0].text


async def test_a_link_works_until_its_day_is_over(site: Site) -> None:
    path = await site.link()
    site.clock.advance(hours=23)
    assert (await site.browser.get(path)).status_code == 200
    site.clock.advance(hours=1)
    assert (await site.browser.get(path)).status_code == 404
    assert (await site.browser.post(path)).status_code == 404
    assert (await site.everything())["workspaces"] == []


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</title><svg onload=alert(1)>",
        "{{ 7 * 7 }}{% include 'layout.html' %}",
        "'; DROP TABLE workspaces; --",
        "javascript:alert(1)",
    ],
)
async def test_a_hostile_name_is_only_ever_text(site: Site, name: str) -> None:
    path = await site.link(name, '"<b>ada</b>"@example.org')

    for page in (await site.browser.get(path), await site.browser.post(path)):
        assert page.status_code == 200
        for piece in ("<script>", "<img src=x", "<svg onload", "<b>ada"):
            assert piece not in page.text
        assert f"<bdi>{escape(name)}</bdi>" in page.text
