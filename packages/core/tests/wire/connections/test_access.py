"""A granted access is kept fresh by one process at a time, and ends when the provider says so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.support.connections.kit import Connected, access_of

from assent.app import App
from assent.engine.connections.oauth import ACCESS, REFRESH, TURN_MS
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.connection import OpenedSecrets
from assent.kernel.refusals import Reason
from assent.ports import NotSent
from assent_conform.testing.provider_server import Outcome

CONTACTS = "/crm/v3/objects/contacts/1"


async def token(world: Connected, provider: str = "hubspot") -> str:
    return (await world.access(provider).open(LOCAL_WORKSPACE)).secrets[ACCESS]


def refreshed(world: Connected) -> int:
    return len(world.far.hubspot.happened("token_refreshed"))


async def test_a_token_is_renewed_before_it_expires_and_not_sooner(world: Connected) -> None:
    await world.connect("hubspot")
    first = await token(world)
    world.clock.advance(seconds=1800 - 121)
    assert await token(world) == first

    world.clock.advance(seconds=2)
    second = await token(world)

    assert second != first
    assert refreshed(world) == 1
    assert await token(world) == second


@pytest.mark.rule("E8")
async def test_two_processes_spend_a_rotating_refresh_token_once(world_on_any_store: Connected) -> None:
    world = world_on_any_store
    await world.connect("hubspot")
    other = App(world.engine.app.settings, clock=world.clock)
    try:
        await other.prepare()
        elsewhere = access_of(other, "hubspot")
        world.clock.advance(seconds=1800)
        world.far.hubspot.plan(Outcome.DELIVER_SLOWLY)
        here = world.access("hubspot")
        opened = await asyncio.gather(
            *(access.open(LOCAL_WORKSPACE) for access in (here, elsewhere, here, elsewhere))
        )
    finally:
        await other.close()

    assert len({access.secrets[ACCESS] for access in opened}) == 1
    assert refreshed(world) == 1
    assert await world.state("hubspot") == "connected"


async def test_a_dead_processs_turn_ends_by_itself(world: Connected) -> None:
    await world.connect("hubspot")
    world.clock.advance(seconds=1800)
    turns = world.access("hubspot")._turns
    held: Any = turns(LOCAL_WORKSPACE, "hubspot")
    await held.__aenter__()  # and whoever took it is never heard of again
    world.clock.advance(seconds=TURN_MS / 1000)

    await token(world)

    assert refreshed(world) == 1


async def test_a_renewal_goes_on_when_its_caller_leaves(world: Connected) -> None:
    await world.connect("hubspot")
    world.clock.advance(seconds=1800)
    world.far.hubspot.plan(Outcome.DELIVER_SLOWLY)
    access = world.access("hubspot")
    caller = asyncio.create_task(access.open(LOCAL_WORKSPACE))
    await world.far.hubspot.until("token_refreshed")
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    await access.finish()

    assert world.far.hubspot.valid(await token(world))
    assert refreshed(world) == 1


@pytest.mark.rule("E8")
async def test_a_revoked_grant_marks_the_connection_expired_and_says_connect_again(
    world_on_any_store: Connected,
) -> None:
    world = world_on_any_store
    await world.connect("hubspot")
    world.clock.advance(seconds=1800)
    world.far.hubspot.revoke_all()

    with pytest.raises(NotSent) as refused:
        await token(world)

    assert refused.value.reason is Reason.MISSING_CONNECTOR
    assert refused.value.curable
    assert "again" in refused.value.detail
    assert await world.state("hubspot") == "expired"
    readiness = await world.access("hubspot").readiness(LOCAL_WORKSPACE)
    assert (readiness.ready, readiness.blocker) == (False, "missing_connector")

    await world.connect("hubspot")
    assert world.far.hubspot.valid(await token(world))


async def test_a_token_that_ends_early_is_renewed_once_and_the_call_made_again(world: Connected) -> None:
    await world.connect("hubspot")
    world.far.hubspot.expire_access()

    answer = await world.access("hubspot").call(
        LOCAL_WORKSPACE, "GET", world.far.hubspot.url + CONTACTS, timeout_seconds=5
    )

    assert answer.status == 404
    assert refreshed(world) == 1


async def test_a_provider_that_refuses_a_fresh_token_has_ended_the_access(world: Connected) -> None:
    await world.connect("ga4", propertyId="1234")
    world.far.ga4.plan(Outcome.REFUSE_401, Outcome.REFUSE_401)

    with pytest.raises(NotSent):
        url = f"{world.far.ga4.url}/v1beta/accountSummaries"
        await world.access("ga4").call(LOCAL_WORKSPACE, "GET", url, timeout_seconds=5)

    assert await world.state("ga4") == "expired"


@pytest.mark.parametrize("outcome", [Outcome.ERROR_BEFORE, Outcome.REFUSE_429, Outcome.RESET_BEFORE])
async def test_a_token_endpoint_out_of_order_ends_nothing(world: Connected, outcome: Outcome) -> None:
    await world.connect("hubspot")
    world.clock.advance(seconds=1800)
    world.far.hubspot.plan(outcome)

    with pytest.raises(NotSent) as refused:
        await token(world)

    assert (refused.value.reason, refused.value.curable) == (Reason.CONNECTOR_FAILED, True)
    assert await world.state("hubspot") == "connected"
    assert await token(world)


async def test_a_token_that_still_counts_is_used_when_it_cannot_be_renewed_yet(world: Connected) -> None:
    await world.connect("hubspot")
    first = await token(world)
    world.clock.advance(seconds=1800 - 60)
    world.far.hubspot.plan(Outcome.ERROR_BEFORE)
    assert await token(world) == first
    assert await token(world) != first


async def test_connecting_again_during_a_renewal_wins(world: Connected) -> None:
    await world.connect("hubspot")
    world.clock.advance(seconds=1800)
    world.far.hubspot.plan(Outcome.DELIVER_SLOWLY)
    caller = asyncio.create_task(token(world))
    await world.far.hubspot.until("token_refreshed")
    await world.connect("hubspot")

    assert world.far.hubspot.valid(await caller)
    assert await world.state("hubspot") == "connected"


async def test_without_a_refresh_token_the_access_ends_with_its_token(world: Connected) -> None:
    connection = await world.connect("ga4")
    held = await world.connections.access(LOCAL_WORKSPACE, "ga4")
    assert held is not None
    only = OpenedSecrets({ACCESS: held.secrets[ACCESS]})
    assert await world.connections.renew(connection, only, connection.expires_ms)
    assert await token(world, "ga4")
    world.clock.advance(hours=1)

    with pytest.raises(NotSent):
        await token(world, "ga4")
    assert await world.state("ga4") == "expired"


async def test_a_disconnect_during_a_renewal_stays_disconnected(world: Connected) -> None:
    await world.connect("hubspot")
    world.clock.advance(seconds=1800)
    world.far.hubspot.plan(Outcome.DELIVER_SLOWLY)
    caller = asyncio.create_task(token(world))
    await world.far.hubspot.until("token_refreshed")
    await world.connections.disconnect(LOCAL_WORKSPACE, "hubspot", by="Ada")

    with pytest.raises(NotSent):
        await caller
    assert await world.state("hubspot") == "revoked"
    assert await world.connections.access(LOCAL_WORKSPACE, "hubspot") is None


async def test_tokens_show_nothing_of_themselves(world: Connected) -> None:
    await world.connect("hubspot")
    held = await world.access("hubspot").open(LOCAL_WORKSPACE)
    shown = repr((held, world.access("hubspot").provider))
    assert not [secret for secret in world.far.secrets if secret in shown]
    assert {ACCESS, REFRESH} == set(held.secrets)
