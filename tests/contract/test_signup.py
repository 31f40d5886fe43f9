"""A person gets a key: the chat has a link, the page shows the key once, and nobody else ever sees it (C26)."""

from __future__ import annotations

import asyncio
import html
import json
import re
import uuid
from urllib.parse import urlsplit

import httpx
import pytest
from tests.contract.talk import KEYED, PUBLIC, SIGNUP, count_rows, request, say
from tests.surfaces import BASE_URL, Surface

KEY = re.compile(r"clp_(?:live|dev)_[A-Za-z0-9_-]{64}")


async def link(surface: Surface, name: str | None = "", email: str = "ada@example.org") -> str:
    """The path of a fresh delivery link, by default under a name that is free."""
    name = f"Ada's shop {uuid.uuid4()}" if name == "" else name
    outcome = await surface.call(SIGNUP, {"email": email, "name": name})
    url: str = outcome.payload["deliveryUrl"]
    assert url.startswith(f"{BASE_URL}/claim/")
    return urlsplit(url).path


def keys_in(response: httpx.Response) -> set[str]:
    return set(KEY.findall(html.unescape(response.text)))


async def claim(surface: Surface, path: str) -> str:
    response = await surface.http.post(path)
    assert response.status_code == 200
    (key,) = keys_in(response)
    return key


@pytest.mark.rule("E93", "E82", "E84")
async def test_from_no_key_to_a_key_that_works(surface: Surface) -> None:
    refused = await surface.call(KEYED)
    tool = refused.payload["recoveryTool"]
    assert (tool["name"], tool["args"], set(tool["needs"])) == (SIGNUP, {}, {"email"})

    name = f"Shop {uuid.uuid4()}"
    started = await surface.call(
        refused.payload["recoveryTool"]["name"], {"email": "ada@example.org", "name": name}
    )
    assert set(started.payload) == {"ok", "deliveryUrl", "userMessage"}
    assert started.payload["deliveryUrl"] in started.payload["userMessage"]

    key = await claim(surface, urlsplit(started.payload["deliveryUrl"]).path)
    assert key.startswith("clp_live_")

    retried = await surface.call(KEYED, key=key)
    assert retried.payload["name"] == name
    # The key has gone to the person and to nobody else.
    for answer in (started, retried, await surface.call(PUBLIC, key=key)):
        assert not KEY.search(json.dumps(answer.message))


@pytest.mark.rule("E93")
async def test_a_signup_alone_makes_no_workspace_and_no_key(surface: Surface) -> None:
    await say(surface, request("ping"))
    await surface.call(PUBLIC, key=(await surface.new_workspace()).api_key)
    before = await count_rows(surface, "workspaces"), await count_rows(surface, "api_keys")

    await link(surface)

    assert (await count_rows(surface, "workspaces"), await count_rows(surface, "api_keys")) == before


async def test_looking_at_the_link_changes_nothing_however_often(surface: Surface) -> None:
    path = await link(surface)

    for method in ("GET", "HEAD", "GET", "GET"):
        response = await surface.http.request(method, path)
        assert response.status_code == 200
        assert keys_in(response) == set()
        if method == "GET":
            assert "<button" in response.text
            assert "post" in response.text.lower()
        assert response.headers["cache-control"] == "no-store"

    assert await claim(surface, path)


async def test_the_key_is_shown_once(surface: Surface) -> None:
    path = await link(surface)
    await claim(surface, path)

    for again in (await surface.http.post(path), await surface.http.get(path)):
        assert again.status_code == 404
        assert keys_in(again) == set()


async def test_of_ten_people_who_press_at_once_one_gets_the_key(surface: Surface) -> None:
    path = await link(surface)

    responses = await asyncio.gather(*(surface.http.post(path) for _ in range(10)))

    found = [key for response in responses for key in keys_in(response)]
    assert len(found) == 1
    assert sorted(response.status_code for response in responses) == [200] + [404] * 9
    assert not (await surface.call(KEYED, key=found[0])).is_error


async def test_a_link_ends_after_a_day(surface: Surface) -> None:
    path = await link(surface)
    surface.clock.advance(hours=23.99)
    assert (await surface.http.get(path)).status_code == 200

    surface.clock.advance(hours=0.02)
    for response in (await surface.http.get(path), await surface.http.post(path)):
        assert response.status_code == 404
        assert keys_in(response) == set()


async def test_used_expired_altered_and_invented_links_look_alike(surface: Surface) -> None:
    used, stale = await link(surface), await link(surface)
    await claim(surface, used)
    surface.clock.advance(hours=25)
    fresh = await link(surface)
    altered = fresh[:-1] + ("A" if fresh[-1] != "A" else "B")
    paths = [
        used,
        stale,
        altered,
        fresh[:-1],
        fresh + "A",
        "/claim/x",
        "/claim/" + "A" * 54,
        "/claim/%00",
        "/claim/%ff",
    ]

    pages = [await surface.http.get(path) for path in paths]

    assert {page.status_code for page in pages} == {404}
    assert len({page.text for page in pages}) == 1
    assert await claim(surface, fresh)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
    ],
    ids=str,
)
async def test_another_site_cannot_press_the_button(web: Surface, headers: dict[str, str]) -> None:
    path = await link(web)

    response = await web.http.post(path, headers=headers)

    assert response.status_code == 403
    assert keys_in(response) == set()
    assert await claim(web, path)


async def test_the_pages_of_a_key_are_kept_by_nobody_and_framed_by_nobody(web: Surface) -> None:
    path = await link(web, "<img src=x onerror=alert(1)>")

    for response, script in ((await web.http.get(path), "'none'"), (await web.http.post(path), "'self'")):
        assert response.headers["cache-control"] == "no-store"
        assert f"script-src {script}" in response.headers["content-security-policy"]
        assert "connect-src" not in response.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in response.headers["content-security-policy"]
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] != "no-referrer"
        assert "<img src=x" not in response.text


@pytest.mark.rule("E93")
async def test_a_person_gets_there_without_an_agent_too(web: Surface) -> None:
    form = await web.http.get("/get-key")
    assert form.status_code == 200

    sent = await web.http.post("/get-key", data={"email": "ada@example.org", "name": "By hand"})
    assert sent.status_code == 200

    (key,) = keys_in(sent)
    assert (await web.call(KEYED, key=key)).payload["name"] == "By hand"


async def test_a_bad_address_in_the_form_is_shown_again_with_what_was_typed(web: Surface) -> None:
    response = await web.http.post("/get-key", data={"email": '"><b>x', "name": "Keep me"})

    assert response.status_code == 400
    assert "Keep me" in response.text
    assert "<b>x" not in response.text


async def test_a_workspace_without_a_name_is_called_after_its_person(surface: Surface) -> None:
    person = uuid.uuid4().hex
    for name, called in ((None, person), ("   ", f"{person} 2")):
        key = await claim(surface, await link(surface, name, f"{person}@example.org"))
        assert (await surface.call(KEYED, key=key)).payload["name"] == called


async def test_a_taken_or_reserved_name_is_refused_when_it_is_asked_for(surface: Surface) -> None:
    name = f"Shop {uuid.uuid4().hex}"
    await claim(surface, await link(surface, name))

    for asked in (
        name,
        f"  {name.upper()} ",
        name.replace("S", "\uff33"),
        "local",
        "Local\u200b",
        str(uuid.uuid4()),
    ):
        surface.clock.advance(hours=0.5)
        refused = await surface.call(SIGNUP, {"email": "eve@example.org", "name": asked})
        assert refused.reason == "name_taken", asked


async def test_of_two_open_requests_under_one_name_one_workspace_gets_a_number(surface: Surface) -> None:
    name = f"Shop {uuid.uuid4().hex}"
    paths = [await link(surface, each) for each in (name, name.lower())]

    answers = await asyncio.gather(*map(surface.http.post, paths))

    assert [each.status_code for each in answers] == [200, 200]
    keys = [keys_in(each).pop() for each in answers]
    names = {(await surface.call(KEYED, key=key)).payload["name"].lower() for key in keys}
    assert names == {name.lower(), f"{name.lower()} 2"}
