"""Sixty calls a minute per workspace, five signups an hour per address, also across processes (E83, E85)."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.contract.talk import KEYED, PUBLIC, RECOVERY_FIELDS, SIGNUP, request, say, tool_call
from tests.support.keys import make_key
from tests.support.surfaces import BASE_URL, ManualClock, Outcome, Surface, settings_for

from assent.app import App
from assent.engine.core import tenancy
from assent.settings.load import Settings


@pytest.fixture
def changed_settings() -> dict[str, Any]:
    return {"rate_limit_per_minute": 60, "signups_per_hour": 5}


def test_the_limits_are_those_of_the_contract_unless_set_otherwise() -> None:
    settings = Settings(data_dir=Path("/"), database_url="sqlite:////x", base_url=BASE_URL)

    assert (settings.rate_limit_per_minute, settings.signups_per_hour) == (60, 5)


def assert_limited(surface: Surface, outcome: Outcome, at_most_seconds: int) -> int:
    """The refusal in full; returns how long to wait."""
    seconds = outcome.payload["retryAfterSeconds"]
    assert outcome.reason == "rate_limited"
    assert set(outcome.payload) >= RECOVERY_FIELDS
    assert (outcome.payload["retryable"], outcome.payload["recoveryTool"]) == (True, None)
    assert outcome.payload["statusCode"] == 429
    assert 1 <= seconds <= at_most_seconds
    if surface.transport == "http":
        assert outcome.status == 429
        assert outcome.headers["retry-after"] == str(seconds)
        assert outcome.message["error"]["code"] == -32000
    else:
        assert outcome.message["result"]["isError"] is True
    return int(seconds)


async def spend(surface: Surface, calls: int, **options: Any) -> None:
    for _ in range(calls):
        assert not (await surface.call(PUBLIC, **options)).is_error


@pytest.mark.rule("E83", "E87", "E97", "E51")
async def test_the_61st_call_of_a_minute_is_refused_and_the_wait_it_names_is_enough(surface: Surface) -> None:
    await surface.sign_in()
    await spend(surface, 60)

    wait = assert_limited(surface, await surface.call(KEYED), at_most_seconds=61)

    surface.clock.advance(seconds=wait)
    assert not (await surface.call(KEYED)).is_error


async def test_a_workspace_may_have_a_rate_of_its_own(surface: Surface) -> None:
    issued = await surface.sign_in()

    async def set_rate(most: int | None) -> None:
        now_ms = surface.clock.now_ms()
        await surface.app.store.write(lambda: tenancy.set_rate(issued.workspace_id, most, now_ms, by="test"))

    await set_rate(3)
    told = (await surface.call("chieflab_get_workspace")).payload["rateLimitPerMinute"]
    await spend(surface, 2)
    refused = await surface.call(KEYED)
    await set_rate(None)

    assert told == 3
    assert_limited(surface, refused, at_most_seconds=61)
    await spend(surface, 57)
    assert (await surface.call(KEYED)).reason == "rate_limited"


async def test_no_stretch_of_a_minute_holds_more_than_the_limit(surface: Surface) -> None:
    # A counter by calendar minute would let 120 through around the full minute.
    await surface.sign_in()
    surface.clock.advance(seconds=59.5 - surface.clock.now_ms() / 1000 % 60)
    await spend(surface, 60)

    for _ in range(59):
        surface.clock.advance(seconds=1)
        assert (await surface.call(KEYED)).reason == "rate_limited"


async def test_calls_that_were_refused_do_not_count(surface: Surface) -> None:
    await surface.sign_in()
    await spend(surface, 60)
    for _ in range(30):
        wait = assert_limited(surface, await surface.call(KEYED), at_most_seconds=61)
        surface.clock.advance(seconds=1)

    surface.clock.advance(seconds=wait - 1)
    await spend(surface, 60)


@pytest.mark.rule("E83")
async def test_the_limit_is_a_workspace_s_own_and_shared_by_its_keys(surface: Surface) -> None:
    busy, quiet = await surface.new_workspace(), await surface.new_workspace()
    second = await make_key(surface.app, busy.workspace_id)

    await spend(surface, 30, key=busy.api_key)
    await spend(surface, 30, key=second)

    assert (await surface.call(KEYED, key=busy.api_key)).reason == "rate_limited"
    assert (await surface.call(KEYED, key=second)).reason == "rate_limited"
    assert not (await surface.call(KEYED, key=quiet.api_key)).is_error


@pytest.mark.rule("E83")
async def test_everything_that_is_called_with_a_key_counts_whatever_came_of_it(surface: Surface) -> None:
    await surface.sign_in()
    for _ in range(20):
        assert (await surface.call("no_such_tool")).reason == "unknown_tool"
        assert (await surface.call(KEYED, {"x": 1})).reason == "validation_error"
        assert not (await surface.call(PUBLIC)).is_error

    assert (await surface.call(KEYED)).reason == "rate_limited"


async def test_looking_around_is_not_calling(surface: Surface) -> None:
    await surface.sign_in()
    for _ in range(70):
        await say(surface, request("ping"))
        await say(surface, request("tools/list"))

    assert not (await surface.call(KEYED)).is_error


async def test_without_a_key_public_calls_are_nobody_s_and_a_wrong_key_spends_nothing(
    surface: Surface,
) -> None:
    issued = await surface.new_workspace()
    forged = issued.api_key[:-1] + ("A" if issued.api_key[-1] != "A" else "B")
    for _ in range(65):
        assert not (await surface.call(PUBLIC)).is_error
        assert (await surface.call(PUBLIC, key=forged)).reason == "invalid_api_key"

    assert not (await surface.call(KEYED, key=issued.api_key)).is_error


@pytest.mark.rule("E83")
async def test_rest_and_mcp_spend_from_the_same_minute(web: Surface) -> None:
    issued = await web.sign_in()
    headers = {"Authorization": f"Bearer {issued.api_key}"}
    for _ in range(30):
        assert (await web.http.post(f"/api/tools/{KEYED}", headers=headers)).status_code == 200
        assert not (await web.call(KEYED)).is_error

    refused = await web.http.post(f"/api/tools/{KEYED}", headers=headers)

    assert refused.status_code == 429
    assert refused.json()["reason"] == "rate_limited"
    assert refused.headers["retry-after"] == str(refused.json()["retryAfterSeconds"])
    assert (await web.call(KEYED)).status == 429


async def test_sixty_at_once_and_one_more(surface: Surface) -> None:
    await surface.sign_in()

    outcomes = Counter(outcome.reason for outcome in await surface.gather(75, KEYED, {}))

    assert outcomes == {None: 60, "rate_limited": 15}


# ── signups ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.rule("E85", "E97")
async def test_the_sixth_signup_of_an_hour_is_refused_and_the_wait_it_names_is_enough(
    surface: Surface,
) -> None:
    for _ in range(5):
        assert not (await surface.call(SIGNUP, {"email": "ada@example.org"})).is_error

    wait = assert_limited(
        surface, await surface.call(SIGNUP, {"email": "bob@example.org"}), at_most_seconds=3_660
    )

    surface.clock.advance(seconds=wait)
    assert not (await surface.call(SIGNUP, {"email": "bob@example.org"})).is_error


@pytest.mark.rule("E85")
async def test_an_address_is_limited_whatever_key_it_shows_and_another_is_not(web: Surface) -> None:
    for n in range(5):
        key = (await web.new_workspace()).api_key if n % 2 else None
        assert not (await web.call(SIGNUP, {"email": "ada@example.org"}, key=key)).is_error
    assert (await web.call(SIGNUP, {"email": "ada@example.org"})).status == 429

    other = httpx.AsyncClient(
        transport=httpx.ASGITransport(app=web.surfaces.site(), client=("203.0.113.8", 1)), base_url=BASE_URL
    )
    async with other:
        response = await other.post("/api/mcp", json=tool_call(SIGNUP, {"email": "bob@example.org"}))
        assert response.status_code == 200


@pytest.mark.rule("E85")
async def test_the_page_for_people_and_the_tool_share_one_limit(web: Surface) -> None:
    for _ in range(5):
        made = await web.http.post("/get-key", data={"email": "ada@example.org"})
        assert made.status_code == 200

    assert (await web.call(SIGNUP, {"email": "ada@example.org"})).status == 429
    refused = await web.http.post("/get-key", data={"email": "ada@example.org"})
    assert refused.status_code == 429
    assert "retry-after" in refused.headers


async def test_a_header_that_claims_another_address_is_not_believed(web: Surface) -> None:
    for n in range(5):
        spoofed = {
            "X-Forwarded-For": f"198.51.100.{n}",
            "Forwarded": f"for=198.51.100.{n}",
            "X-Real-IP": f"198.51.100.{n}",
        }
        assert not (await web.call(SIGNUP, {"email": "a@b.c"}, headers=spoofed)).is_error

    assert (
        await web.call(SIGNUP, {"email": "a@b.c"}, headers={"X-Forwarded-For": "198.51.100.99"})
    ).status == 429


class TestBehindAProxy:
    @pytest.fixture
    def changed_settings(self) -> dict[str, Any]:
        return {"signups_per_hour": 1, "trust_proxy_headers": True}

    async def test_the_address_is_the_one_that_the_proxy_itself_has_seen(self, web: Surface) -> None:
        """The last entry is the proxy's own; the ones before it are whatever the caller wrote."""
        first = await web.call(SIGNUP, {"email": "a@b.c"}, headers={"X-Forwarded-For": "198.51.100.1"})
        forged = await web.call(
            SIGNUP, {"email": "a@b.c"}, headers={"X-Forwarded-For": "10.9.8.7, 198.51.100.1"}
        )
        other = await web.call(
            SIGNUP, {"email": "a@b.c"}, headers={"X-Forwarded-For": "198.51.100.1, 198.51.100.2"}
        )

        assert [first.is_error, forged.reason, other.is_error] == [False, "rate_limited", False]
        # A proxy may also add a line of its own.
        lines = [("X-Forwarded-For", "10.9.8.7"), ("X-Forwarded-For", "198.51.100.1")]
        response = await web.http.post(f"/api/tools/{SIGNUP}", json={"email": "a@b.c"}, headers=lines)
        assert response.status_code == 429

    async def test_the_page_for_people_knows_addresses_the_same_way(self, web: Surface) -> None:
        statuses = [
            (
                await web.http.post("/get-key", data={"email": "a@b.c"}, headers={"X-Forwarded-For": address})
            ).status_code
            for address in ("198.51.100.1", "198.51.100.2", "198.51.100.1")
        ]

        assert statuses == [303, 303, 429]


async def test_a_refused_address_is_not_counted_as_a_signup(surface: Surface) -> None:
    for _ in range(10):
        assert (await surface.call(SIGNUP, {"email": "no address"})).reason == "validation_error"

    assert not (await surface.call(SIGNUP, {"email": "ada@example.org"})).is_error


# ── several processes on one PostgreSQL ──────────────────────────────────────────────────────────


@pytest.mark.rule("E83", "E85")
async def test_two_servers_on_one_database_admit_exactly_the_limit_together(
    postgres_url: str, tmp_path: Path, changed_settings: dict[str, Any]
) -> None:
    clock = ManualClock()
    servers = []
    for name in ("one", "two"):
        app = App(settings_for(postgres_url, tmp_path / name, **changed_settings), clock=clock)
        servers.append(Surface(app))
    one, two = servers
    try:
        key = (await one.new_workspace()).api_key
        outcomes = await asyncio.gather(*((one, two)[n % 2].call(KEYED, key=key) for n in range(130)))
        assert Counter(outcome.status for outcome in outcomes) == {200: 60, 429: 70}

        signups = await asyncio.gather(
            *((one, two)[n % 2].call(SIGNUP, {"email": "a@b.c"}) for n in range(20))
        )
        assert Counter(outcome.status for outcome in signups) == {200: 5, 429: 15}

        clock.advance(seconds=61)
        outcomes = await asyncio.gather(*((one, two)[n % 2].call(KEYED, key=key) for n in range(70)))
        assert Counter(outcome.status for outcome in outcomes) == {200: 60, 429: 10}
    finally:
        for server in servers:
            await server.close()
