"""The emulated providers keep what the documents promise, so that what passes here would pass there."""

from __future__ import annotations

from datetime import date
from typing import Any

import httpx
import msgspec
import pytest
from tests.support.connections.kit import BACK, HUBSPOT, Connected, consent

from assent.engine.connections import grants
from assent.engine.connections.grants import GrantEnded, GrantFailed
from assent_conform.emulators.google import DailyVisits
from assent_conform.testing.provider_server import Outcome, json_answer

PROOF = "a-verifier-of-at-least-43-characters-in-length-00"


async def code_of(workspace: Connected, provider: str, **changes: str) -> str:
    known = workspace.access(provider).provider
    url = grants.consent_url(known, redirect_uri=BACK.format(provider), state="s", verifier=PROOF)
    for name, value in changes.items():
        url = url.replace(f"{name}=offline", f"{name}={value}")
    return (await consent(url))["code"]


async def exchanged(
    workspace: Connected, provider: str, code: str, verifier: str = PROOF
) -> grants.OAuthTokens:
    known = workspace.access(provider).provider
    return await grants.exchange_code(known, code, redirect_uri=BACK.format(provider), verifier=verifier)


@pytest.mark.parametrize("provider", ["ga4", "hubspot"])
async def test_a_code_works_once_and_a_second_use_ends_what_it_gave(
    workspace: Connected, provider: str
) -> None:
    code = await code_of(workspace, provider)
    granted = await exchanged(workspace, provider, code)
    far = workspace.far.granting(provider)
    assert far.valid(granted.access_token)

    with pytest.raises(GrantEnded):
        await exchanged(workspace, provider, code)

    assert not far.valid(granted.access_token)


@pytest.mark.parametrize("provider", ["ga4", "hubspot"])
async def test_a_code_without_its_verifier_is_worth_nothing(workspace: Connected, provider: str) -> None:
    code = await code_of(workspace, provider)
    with pytest.raises(GrantEnded):
        await exchanged(workspace, provider, code, verifier=PROOF[:-1] + "1")


async def test_a_rotated_refresh_token_that_is_used_again_ends_the_grant(workspace: Connected) -> None:
    known = workspace.access("hubspot").provider
    first = await exchanged(workspace, "hubspot", await code_of(workspace, "hubspot"))
    second = await grants.refresh(known, first.refresh_token or "")
    assert second.refresh_token != first.refresh_token

    with pytest.raises(GrantEnded):
        await grants.refresh(known, first.refresh_token or "")
    with pytest.raises(GrantEnded):
        await grants.refresh(known, second.refresh_token or "")


async def test_revoking_ends_access_at_once(workspace: Connected) -> None:
    known = workspace.access("ga4").provider
    granted = await exchanged(workspace, "ga4", await code_of(workspace, "ga4"))
    assert await grants.revoke(known, granted.refresh_token or "")
    assert not workspace.far.google.valid(granted.access_token)
    assert not await grants.revoke(known, granted.refresh_token or "")


async def test_a_wrong_client_is_no_ended_grant(workspace: Connected) -> None:
    known = workspace.access("hubspot").provider
    wrong = msgspec.structs.replace(known, client=grants.ClientCredentials(HUBSPOT.client_id, "wrong"))
    with pytest.raises(GrantFailed, match="invalid_client"):
        await grants.refresh(wrong, "x")


async def test_tokens_are_read_in_either_spelling(
    workspace: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"accessToken": "a", "refreshToken": "r", "expiresIn": 1800, "hubId": 7, "scopes": ["x"]}
    monkeypatch.setattr(workspace.far.hubspot, "token", lambda asked: json_answer(200, said))
    granted = await grants.refresh(workspace.access("hubspot").provider, "r")
    assert (granted.access_token, granted.refresh_token, granted.expires_in) == ("a", "r", 1800)
    assert (granted.account, granted.scopes) == ("7", ("x",))


async def ask(workspace: Connected, url: str, body: Any, provider: str = "ga4") -> httpx.Response:
    granted = await exchanged(workspace, provider, await code_of(workspace, provider))
    async with httpx.AsyncClient() as client:
        return await client.post(url, json=body, headers={"Authorization": f"Bearer {granted.access_token}"})


async def test_a_report_speaks_in_strings_and_has_no_rows_when_nothing_was_counted(
    workspace: Connected,
) -> None:
    url = f"{workspace.far.ga4.url}/v1beta/properties/1234:runReport"
    body = {
        "dateRanges": [{"startDate": "2026-01-01", "endDate": "2026-01-02"}],
        "metrics": [{"name": "sessions"}],
    }
    assert "rows" not in (await ask(workspace, url, body)).json()
    workspace.far.ga4.visits.append(DailyVisits(date(2026, 1, 2), "example.org", "/", 3))
    report = (await ask(workspace, url, body)).json()
    assert report["rows"] == [{"metricValues": [{"value": "3"}]}]
    assert report["kind"] == "analyticsData#runReport"

    workspace.far.ga4.plan(Outcome.REFUSE_429)
    refused = await ask(workspace, url, body)
    assert (refused.status_code, refused.json()["error"]["status"]) == (429, "RESOURCE_EXHAUSTED")
    assert (await ask(workspace, url.replace("1234", "99"), body)).status_code == 403
