"""A client goes from a refusal to a called tool: by the specifications alone, and the official SDK's, in each era."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, urlsplit

import httpx2
import mcp
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from tests.support.oauth.kit import DOCUMENT, Person, document, make_client, publishing
from tests.support.oauth.plain_client import MODERN
from tests.support.review.kit import Server

KEYED = "chieflab_status"
LEGACY = "2025-06-18"
REDIRECT = "http://127.0.0.1:49152/callback"
HERE, ELSEWHERE = "127.0.0.1", "203.0.113.7"


class Kept:
    """Where the client keeps what it gets."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def sign_in_by(
    open_browser: Callable[[str], Awaitable[None]],
    back: list[str],
    url: str,
    kept: Kept,
    *,
    document: str | None = None,
) -> OAuthClientProvider:
    """The SDK's sign-in. `back` has the addresses at which the browser came back."""

    async def wait() -> AuthorizationCodeResult:
        answer = {name: values[0] for name, values in parse_qs(urlsplit(back[-1]).query).items()}
        return AuthorizationCodeResult(code=answer["code"], state=answer["state"], iss=answer["iss"])

    metadata = OAuthClientMetadata(client_name="SDK", redirect_uris=[REDIRECT])  # type: ignore[list-item]
    return OAuthClientProvider(url, metadata, kept, open_browser, wait, client_metadata_url=document)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("documented", [True, False], ids=["document", "registration"])
@pytest.mark.parametrize("address", [HERE, ELSEWHERE], ids=["here", "elsewhere"])
async def test_the_sdk_goes_from_a_refusal_to_a_called_tool(
    server: Server, mode: str, documented: bool, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, kept = Person(await server.owner()), Kept()
    back: list[str] = []

    async def open_browser(url: str) -> None:
        back.append(await person.let_in(url))

    url = f"{server.base_url}/api/mcp"
    signing_in = sign_in_by(open_browser, back, url, kept, document=DOCUMENT if documented else None)
    transport = httpx2.ASGITransport(app=server.site, client=(address, 50_000))
    with publishing(monkeypatch) as web:
        web.publish(DOCUMENT, document())
        async with (
            httpx2.AsyncClient(transport=transport, auth=signing_in) as http,
            mcp.Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            called = await client.call_tool(KEYED, {})

    assert called.structured_content is not None and called.structured_content["ok"] is True
    assert len(back) == 1
    assert kept.tokens is not None and kept.tokens.access_token.startswith("clp_live_")
    assert kept.client is not None and (kept.client.client_id == DOCUMENT) is documented


async def test_the_sdk_asks_for_more_when_a_tool_needs_it(server: Server) -> None:
    """Step-up: a client that asked for little is told what is missing, and asks the person again."""
    person, kept = Person(await server.owner()), Kept()
    back: list[str] = []

    async def open_browser(url: str) -> None:
        asked = parse_qs(urlsplit(url).query)["scope"][0]
        if not back:
            url = url.replace(asked.replace(" ", "+").replace(":", "%3A"), "runs%3Awrite")
        back.append(await person.let_in(url))

    url = f"{server.base_url}/api/mcp"
    signing_in = sign_in_by(open_browser, back, url, kept)
    transport = httpx2.ASGITransport(app=server.site, client=(ELSEWHERE, 50_000))
    async with (
        httpx2.AsyncClient(transport=transport, auth=signing_in) as http,
        mcp.Client(streamable_http_client(url, http_client=http), mode="auto") as client,
    ):
        await client.list_tools()
        assert kept.tokens is not None and kept.tokens.scope == "runs:write"

        missing = f"{0:08}-0000-7000-8000-{0:012}"
        called = await client.call_tool("chieflab_execute_approved_action", {"actionId": missing})

    assert called.structured_content is not None
    assert called.structured_content["reason"] == "wrong_workspace"
    assert len(back) == 2
    assert "actions:execute" in (kept.tokens.scope or "")


@pytest.mark.parametrize("version", [MODERN, LEGACY])
@pytest.mark.parametrize("documented", [True, False], ids=["document", "registration"])
async def test_a_client_goes_from_a_refusal_to_a_called_tool(
    server_on_any_store: Server, version: str, documented: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = server_on_any_store
    person = Person(await server.owner())
    client = make_client(server, version=version, client_id=DOCUMENT if documented else "")
    with publishing(monkeypatch) as web:
        web.publish(DOCUMENT, document())
        refused = await client.greet()
        assert refused.status_code == 401

        await client.sign_in(refused, person.let_in)
        assert web.asked == ([DOCUMENT] if documented else [])

    assert (await client.greet()).status_code == 200
    called = await client.call(KEYED)
    assert called.json()["result"]["structuredContent"]["ok"] is True
    assert client.tokens["access_token"].startswith("clp_live_")

    client.keep(await client.refresh())
    assert (await client.call(KEYED)).status_code == 200
