"""The review link, read with nothing but the contract and RUN_TOKEN_SECRET in hand (S0 §4)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.support.actions.kit import APPROVE, EXECUTE, PENDING, REJECT, Gate
from tests.support.surfaces import BASE_URL, SECRET

from assent.gate.review_link import read_token
from assent.kernel.tokens import KeyRing, TokenInvalid

WEEK = 7 * 24 * 3600
RING = KeyRing((SECRET.encode(),))


def b64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unb64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def token_of(url: str) -> str:
    [token] = parse_qs(urlsplit(url).query, strict_parsing=True)["token"]
    return token


def claims_of(token: str) -> dict[str, Any]:
    claims: dict[str, Any] = json.loads(unb64url(token.partition(".")[0]))
    return claims


def signed(claims: Any, secret: str = SECRET) -> str:
    """A token made by hand, as the contract says."""
    payload = b64url(claims if isinstance(claims, bytes) else json.dumps(claims).encode())
    return f"{payload}.{b64url(hmac.new(secret.encode(), payload.encode(), hashlib.sha256).digest())}"


@pytest.mark.rule("E6", "E34", "E35", "E36", "E37")
async def test_the_link_is_the_contracts_and_its_signature_can_be_computed_by_anybody_with_the_secret(
    surface: Gate,
) -> None:
    run = await surface.run()
    url = urlsplit(run["reviewUrl"])
    assert f"{url.scheme}://{url.netloc}" == BASE_URL
    assert url.path == f"/runs/{run['runId']}"
    assert (list(parse_qs(url.query)), url.fragment) == (["token"], "")
    token = token_of(run["reviewUrl"])
    now = surface.clock.now_ms() // 1000
    assert claims_of(token) == {
        "runId": run["runId"],
        "workspaceId": surface.workspace_id,
        "iat": now,
        "exp": now + WEEK,
        "scope": "review",
    }
    payload, _, signature = token.partition(".")
    assert "=" not in token
    assert signature == b64url(hmac.new(SECRET.encode(), payload.encode(), hashlib.sha256).digest())
    assert len(unb64url(signature)) == 32


@pytest.mark.rule("E6", "E35")
@pytest.mark.parametrize("changed_settings", [{"review_ttl_seconds": 3600}], indirect=True, ids=["an hour"])
async def test_a_link_lives_as_long_as_the_setting_says(surface: Gate) -> None:
    claims = claims_of(token_of((await surface.run())["reviewUrl"]))
    assert claims["exp"] - claims["iat"] == 3600


@pytest.mark.rule("E6", "E88")
async def test_every_answer_about_something_pending_carries_a_link_to_its_run(surface: Gate) -> None:
    run = await surface.run({}, {"severity": "high"})
    first, high = [action["id"] for action in run["actions"]]
    answers = [
        run["reviewUrl"],
        (await surface.denied(EXECUTE, actionId=first))["reviewUrl"],
        (await surface.denied(APPROVE, actionId=high))["reviewUrl"],
        (await surface.done(PENDING))["reviewUrl"],
        (await surface.done(PENDING, runId=run["runId"]))["reviewUrl"],
    ]
    for url in answers:
        assert urlsplit(url).path == f"/runs/{run['runId']}"
        claims = read_token(RING, token_of(url), run["runId"], surface.clock.now_ms())
        assert claims.workspace_id == surface.workspace_id
    await surface.done(REJECT, actionId=first, reason="no")
    assert run["runId"] in (await surface.done(PENDING))["reviewUrl"]


@pytest.fixture(scope="module")
def good() -> tuple[str, dict[str, Any], int]:
    """A good token, its claims, and a moment in its life."""
    run_id = "01a0c8de-7a3b-7c1d-9f00-5b6c7d8e9fa0"
    claims = {
        "runId": run_id,
        "workspaceId": "01a0c8de-7a3b-7c1d-9f00-5b6c7d8e9fa1",
        "iat": 1_790_000_000,
        "exp": 1_790_000_000 + WEEK,
        "scope": "review",
    }
    return signed(claims), claims, 1_790_000_100_000


Good = tuple[str, dict[str, Any], int]


def test_a_token_made_by_hand_as_the_contract_says_is_read(good: Good) -> None:
    token, claims, now_ms = good
    assert read_token(RING, token, claims["runId"], now_ms).workspace_id == claims["workspaceId"]


@pytest.mark.rule("E38", "E71")
def test_a_token_of_another_run_is_refused(good: Good) -> None:
    token, _, now_ms = good
    for other in ("01a0c8de-7a3b-7c1d-9f00-5b6c7d8e9fa9", "", "*"):
        with pytest.raises(TokenInvalid):
            read_token(RING, token, other, now_ms)


@pytest.mark.rule("E39")
def test_a_token_is_refused_from_the_second_of_its_expiry(good: Good) -> None:
    token, claims, _ = good
    read_token(RING, token, claims["runId"], claims["exp"] * 1000 - 1)
    for now_ms in (claims["exp"] * 1000, claims["exp"] * 1000 + 1, claims["exp"] * 2000):
        with pytest.raises(TokenInvalid):
            read_token(RING, token, claims["runId"], now_ms)


@pytest.mark.rule("E36", "E38")
@pytest.mark.parametrize(
    "change",
    [
        {"scope": "admin"},
        {"scope": "Review"},
        {"scope": None},
        {"exp": "1790604800"},
        {"exp": 1e300},
        {"iat": None},
        {"exp": 1_789_999_999},
        {"admin": True},
        {"alg": "none"},
        {"runId": None},
        {"workspaceId": 7},
    ],
    ids=str,
)
def test_a_token_with_other_claims_is_refused_although_it_is_signed(
    good: Good, change: dict[str, Any]
) -> None:
    _, claims, now_ms = good
    with pytest.raises(TokenInvalid):
        read_token(RING, signed({**claims, **change}), claims["runId"], now_ms)
