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
from tests.support.contract.talk import KEYED, PUBLIC, SIGNUP
from tests.support.surfaces import BASE_URL, Surface

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
