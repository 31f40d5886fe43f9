"""A client goes from a refusal to a called tool, by the specifications alone."""

from __future__ import annotations

import pytest
from tests.support.oauth.kit import DOCUMENT, Person, document, make_client, publishing
from tests.support.oauth.plain_client import MODERN
from tests.support.review.kit import Server

KEYED = "chieflab_status"
LEGACY = "2025-06-18"


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
