"""`/get-key`: the same signup for people that agents have as a tool (E85)."""

from __future__ import annotations

import pytest
from tests.support.people.fixtures import KEY, Site

from assent.kernel.limits import MAX_NAME_CHARS, SIGNUPS_PER_HOUR


async def test_the_form_makes_a_workspace_and_shows_its_key_in_one_step(site_on_any_store: Site) -> None:
    browser = site_on_any_store.browser
    shown = await browser.post("/get-key", data={"email": "ada@example.org", "name": "Acme"})

    assert shown.status_code == 200
    assert "Acme" in shown.text and KEY.search(shown.text)
    assert shown.headers["cache-control"] == "no-store"
    assert shown.headers["set-cookie"].startswith("assent-session=")


async def test_opening_the_form_makes_no_workspace_and_no_key(site: Site) -> None:
    await site.browser.get("/get-key")

    stored = await site.everything()
    assert (stored["workspaces"], stored["api_keys"], stored["signup_links"]) == ([], [], [])


async def test_a_workspace_without_a_name_is_called_after_its_owner(site: Site) -> None:
    asked = await site.browser.post("/get-key", data={"email": "ada@example.org", "name": "  "})

    assert "<bdi>ada</bdi>" in asked.text


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, "email"),
        ({"email": ""}, "email"),
        ({"email": "nonsense"}, "email"),
        ({"email": "a@b@c"}, "email"),
        ({"email": "a" * 300 + "@example.org"}, "email"),
        ({"email": "ada@example.org", "name": "n" * (MAX_NAME_CHARS + 1)}, "name"),
    ],
)
async def test_a_wrong_field_is_pointed_at_and_what_was_typed_is_kept(
    site: Site, fields: dict[str, str], wrong: str
) -> None:
    answer = await site.browser.post("/get-key", data=fields)

    assert answer.status_code == 400
    assert f'id="{wrong}-wrong"' in answer.text
    assert answer.text.count('aria-invalid="true"') == 1
    for value in fields.values():
        assert f'value="{value}"' in answer.text
    assert (await site.everything())["signup_links"] == []


async def test_hostile_text_typed_into_the_form_comes_back_as_text(site: Site) -> None:
    answer = await site.browser.post("/get-key", data={"email": '"><script>alert(1)</script>', "name": "<b>"})

    assert answer.status_code == 400
    assert "<script" not in answer.text
    assert "<b>" not in answer.text


@pytest.mark.rule("E85")
async def test_the_sixth_key_within_an_hour_is_refused_with_the_time_to_wait(site: Site) -> None:
    fields = {"email": "ada@example.org"}
    for _ in range(SIGNUPS_PER_HOUR):
        assert (await site.browser.post("/get-key", data=fields)).status_code == 200

    refused = await site.browser.post("/get-key", data=fields)

    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= 3700
    assert "Try again in" in refused.text
    site.clock.advance(hours=1.1)
    assert (await site.browser.post("/get-key", data=fields)).status_code == 200


async def test_where_no_page_can_be_linked_to_the_form_says_so(site: Site) -> None:
    site.pages = None

    answer = await site.browser.post("/get-key", data={"email": "ada@example.org"})

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "30"


async def test_our_own_mistake_shows_nothing_of_the_inside(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(begin: object) -> object:
        raise RuntimeError("internal detail")

    monkeypatch.setattr(site.store, "read", broken)
    answer = await site.browser.get("/claim/x")

    assert answer.status_code == 500
    assert "internal detail" not in answer.text
    assert "Traceback" not in answer.text
