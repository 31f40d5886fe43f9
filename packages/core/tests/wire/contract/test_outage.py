"""The database goes away and comes back: 503 with what to do, no half state, and no restart needed."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from tests.support.contract.talk import (
    KEYED,
    PUBLIC,
    RECOVERY_FIELDS,
    SIGNUP,
    count_rows,
    request,
    say,
    say_modern,
)
from tests.support.fault_proxy import FaultProxy
from tests.support.surfaces import ManualClock, Outcome, Surface, settings_for

from assent.app import App

SOME_KEY = "clp_live_" + "A" * 64
"""In the form of a key, so that the database is asked about it."""


@dataclass(frozen=True)
class Outage:
    """A server whose database can be taken away."""

    surface: Surface
    strike: Callable[[], Awaitable[None]]
    mend: Callable[[], Awaitable[None]]


@contextlib.asynccontextmanager
async def over_postgres(url: str, data_dir: Path, transport: str) -> AsyncIterator[tuple[Outage, FaultProxy]]:
    parts = urlsplit(url)
    proxy = FaultProxy(parts.port or 5432)
    await proxy.mend()
    through = urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{proxy.port}"))
    app = App(settings_for(through, data_dir), clock=ManualClock())
    try:
        async with Surface(app, transport) as surface:
            yield Outage(surface, proxy.cut, proxy.mend), proxy
    finally:
        await proxy.cut()


@contextlib.asynccontextmanager
async def over_sqlite(data_dir: Path, transport: str) -> AsyncIterator[Outage]:
    """A file stands where the directory of the database should be. Only a store not opened yet notices that."""
    place = data_dir / "database"
    app = App(settings_for(f"sqlite:///{place / 'assent.db'}", data_dir), clock=ManualClock())

    async def strike() -> None:
        place.write_text("in the way")

    async def mend() -> None:
        place.unlink()

    async with Surface(app, transport) as surface:
        yield Outage(surface, strike, mend)


@pytest.fixture
async def outage(database_url: str, tmp_path: Path, transport: str) -> AsyncIterator[Outage]:
    """A server that has not been used yet, over each store and transport."""
    if database_url.startswith("sqlite:"):
        async with over_sqlite(tmp_path, transport) as made:
            yield made
    else:
        async with over_postgres(database_url, tmp_path, transport) as (made, _):
            yield made


def assert_unavailable(surface: Surface, outcome: Outcome) -> None:
    assert outcome.reason == "temporarily_unavailable"
    assert set(outcome.payload) >= RECOVERY_FIELDS
    assert outcome.payload["statusCode"] == 503
    assert outcome.payload["retryable"] is True
    assert outcome.payload["retryAfterSeconds"] >= 1
    for telltale in ("sqlite", "postgres", "127.0.0.1:", "/database", "asyncpg", "Errno", "Connection"):
        assert telltale not in str({k: v for k, v in outcome.payload.items() if k != "recoveryTool"})
    if surface.transport == "http":
        assert outcome.status == 503
        assert outcome.headers["retry-after"] == str(outcome.payload["retryAfterSeconds"])
        assert outcome.message["error"]["code"] == -32000
        assert outcome.message["error"]["data"] == outcome.payload
    else:
        assert outcome.message["result"]["isError"] is True


@pytest.mark.rule("E87", "E51")
async def test_without_its_database_a_server_says_503_and_recovers_by_itself(outage: Outage) -> None:
    surface = outage.surface
    await outage.strike()
    for tool, arguments, key in (
        (SIGNUP, {"email": "a@b.c"}, None),
        (KEYED, {}, SOME_KEY),
        (PUBLIC, {}, SOME_KEY),
    ):
        assert_unavailable(surface, await surface.call(tool, arguments, key=key))

    await outage.mend()

    assert not (await surface.call(SIGNUP, {"email": "a@b.c"})).is_error
    assert await count_rows(surface, "signup_links") == 1
    await surface.sign_in()
    assert not (await surface.call(KEYED)).is_error


async def test_what_needs_no_database_works_without_one(outage: Outage) -> None:
    surface = outage.surface
    await outage.strike()

    assert "result" in (await say(surface, request("initialize"))).message
    assert "result" in (await say(surface, request("ping"))).message
    assert (await say(surface, request("tools/list"))).result["tools"]
    assert (await say_modern(surface, "server/discover")).result["resultType"] == "complete"
    assert not (await surface.call(PUBLIC)).is_error
    assert (await surface.call(KEYED)).reason == "missing_api_key"
    with contextlib.suppress(FileNotFoundError):
        await outage.mend()


@pytest.mark.rule("E87")
async def test_every_http_surface_says_503_and_health_stays(outage: Outage) -> None:
    http = outage.surface.http
    await outage.strike()

    rest = await http.post(f"/api/tools/{SIGNUP}", json={"email": "a@b.c"})
    ready = await http.get("/readyz")
    claim = await http.get("/claim/" + "A" * 54)
    form = await http.post("/get-key", data={"email": "a@b.c"})

    for response in (rest, ready, claim, form):
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) >= 1
    assert rest.json()["reason"] == ready.json()["reason"] == "temporarily_unavailable"
    assert (await http.get("/healthz")).status_code == 200
    assert (await http.get("/get-key")).status_code == 200

    await outage.mend()
    assert (await http.get("/readyz")).status_code == 200
    assert (await http.post(f"/api/tools/{SIGNUP}", json={"email": "a@b.c"})).status_code == 200


async def test_many_callers_of_an_absent_database_wait_side_by_side_and_not_in_a_row(outage: Outage) -> None:
    await outage.strike()
    started = time.monotonic()

    outcomes = await asyncio.gather(*(outage.surface.call(KEYED, key=SOME_KEY) for _ in range(30)))

    assert {outcome.reason for outcome in outcomes} == {"temporarily_unavailable"}
    assert time.monotonic() - started < 5


async def test_a_database_that_says_nothing_is_given_up_once_for_everybody(
    postgres_url: str, tmp_path: Path, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with over_postgres(postgres_url, tmp_path, transport) as (outage, proxy):
        proxy.swallow()
        started = time.monotonic()

        with monkeypatch.context() as short:  # not for the way back, which a busy machine may take longer for
            short.setattr("assent.stores.postgres_connection.CONNECT_SECONDS", 0.5)
            outcomes = await asyncio.gather(*(outage.surface.call(KEYED, key=SOME_KEY) for _ in range(20)))

        assert {outcome.reason for outcome in outcomes} == {"temporarily_unavailable"}
        assert time.monotonic() - started < 20 * 0.5 * 0.8
        await proxy.mend()
        assert not (await outage.surface.call(SIGNUP, {"email": "a@b.c"})).is_error


# ── PostgreSQL goes away while it is used ────────────────────────────────────────────────────────


@pytest.mark.rule("E87")
async def test_a_database_that_goes_away_in_use_is_said_and_found_again(
    postgres_url: str, tmp_path: Path, transport: str
) -> None:
    async with over_postgres(postgres_url, tmp_path, transport) as (outage, _):
        surface = outage.surface
        await surface.sign_in()
        for _ in range(3):
            assert not (await surface.call(KEYED)).is_error
            await outage.strike()
            assert_unavailable(surface, await surface.call(KEYED))
            assert_unavailable(surface, await surface.call(SIGNUP, {"email": "a@b.c"}))
            await outage.mend()
            assert not (await surface.call(KEYED)).is_error


async def test_connections_that_died_unnoticed_cost_no_caller_anything(
    postgres_url: str, tmp_path: Path, transport: str
) -> None:
    # A database that was restarted, or a firewall that cut: every pooled connection is dead, the server is not.
    async with over_postgres(postgres_url, tmp_path, transport) as (outage, _):
        surface = outage.surface
        await surface.sign_in()
        await surface.gather(20, KEYED, {})
        await outage.strike()
        await outage.mend()

        outcomes = await surface.gather(20, KEYED, {})

        assert not any(outcome.is_error for outcome in outcomes)


async def test_calls_cut_off_in_flight_are_503_or_done_and_never_half(
    postgres_url: str, tmp_path: Path, transport: str
) -> None:
    async with over_postgres(postgres_url, tmp_path, transport) as (outage, _):
        surface = outage.surface
        await surface.sign_in()
        calls = [asyncio.create_task(surface.call(KEYED)) for _ in range(50)]
        await calls[0]
        await outage.strike()
        outcomes = await asyncio.gather(*calls)
        await outage.mend()

        assert {outcome.reason for outcome in outcomes} <= {None, "temporarily_unavailable"}
        assert not (await surface.call(KEYED)).is_error
