"""A server that clients sign in to, the person at its consent page, and a place that publishes documents of clients."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from html import unescape
from typing import Any

import httpx
import msgspec
import pytest
from tests.support.keyed_browser import KeyedBrowser
from tests.support.net.stub_server import Answer
from tests.support.oauth.plain_client import PlainClient, make_pkce
from tests.support.review.kit import Server, forms

from assent.net import outgoing
from assent.net.outgoing import Posted

LEAVING = re.compile(r'http-equiv="refresh" content="0;url=([^"]+)"')
TICKED = re.compile(r'type="checkbox" name="([^"]+)" value="on" checked')
DOCUMENT = "https://client.example/oauth/client.json"


class Person:
    """Someone at a browser who answers what clients ask."""

    def __init__(self, browser: KeyedBrowser) -> None:
        self.browser = browser

    async def look(self, url: str) -> httpx.Response:
        return await self.browser.get(url)

    async def let_in(self, url: str, *, without: Iterable[str] = (), **more: str) -> str:
        """Open the page, untick some rights, sign, and return where the browser is sent."""
        shown = await self.look(url)
        assert shown.status_code == 200, shown.text
        return find_way_back(await self.answer(shown, without=without, **more))

    async def answer(
        self, shown: httpx.Response, *, without: Iterable[str] = (), **more: str
    ) -> httpx.Response:
        (asked,) = [each for each in forms(shown.text) if "/oauth/authorize" in each.address]
        ticked = {name: "on" for name in TICKED.findall(shown.text) if name not in without}
        return await self.browser.post(asked.address, data={**asked.fields, **ticked, **more})

    async def decline(self, url: str) -> str:
        return find_way_back(await self.answer(await self.look(url), deny="1"))


def find_way_back(answer: httpx.Response) -> str:
    found = LEAVING.search(answer.text)
    assert answer.status_code == 200 and found is not None, answer.text
    return unescape(found[1])


def make_client(server: Server, http: httpx.AsyncClient | None = None, **given: Any) -> PlainClient:
    """A client on another machine, or on this one by its `http`."""
    return PlainClient(http or server.elsewhere(), f"{server.base_url}/api/mcp", **given)


async def ask_to_sign_in(server: Server, name: str) -> str:
    """The address of a request by a new client on this machine."""
    client = make_client(server, name=name)
    await client.discover(await client.greet())
    await client.register()
    return client.authorization_url(make_pkce()[1], "state")


def document(client_id: str = DOCUMENT, **changes: Any) -> bytes:
    said = {
        "client_id": client_id,
        "client_name": "Documented",
        "redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback"],
        "token_endpoint_auth_method": "none",
        **changes,
    }
    return msgspec.json.encode(said)


class Publisher:
    """The web as this server fetches it: what each address answers, and what was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []

    def publish(self, url: str, body: bytes, *, status: int = 200, kind: str = "application/json") -> None:
        self.answers[url] = Answer(status=status, body=body, headers={"Content-Type": kind})

    async def send(self, method: str, target: Any, body: bytes, *, max_bytes: int, **rest: Any) -> Posted:
        self.asked.append(str(target.url))
        answer = self.answers[str(target.url)]
        return Posted(
            status=answer.status,
            body=answer.body[:max_bytes],
            content_type=answer.headers.get("Content-Type", ""),
        )


@contextmanager
def publishing(patch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    """Names of `example` lead to a publisher. What the guard refuses never gets there."""
    from assent.net import addresses

    found = Publisher()

    async def resolve(host: str, port: int) -> list[str]:
        return ["93.184.216.34"] if host.endswith(".example") else [host]

    with patch.context() as patched:
        patched.setattr(addresses, "_resolve", resolve)
        patched.setattr(outgoing, "send_json", found.send)
        yield found
