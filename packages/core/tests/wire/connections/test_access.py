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


async def token(workspace: Connected, provider: str = "hubspot") -> str:
    return (await workspace.access(provider).open(LOCAL_WORKSPACE)).secrets[ACCESS]


def refreshed(workspace: Connected) -> int:
    return len(workspace.far.hubspot.happened("token_refreshed"))


async def test_a_token_is_renewed_before_it_expires_and_not_sooner(workspace: Connected) -> None:
    await workspace.connect("hubspot")
    first = await token(workspace)
    workspace.clock.advance(seconds=1800 - 121)
    assert await token(workspace) == first

    workspace.clock.advance(seconds=2)
    second = await token(workspace)

    assert second != first
    assert refreshed(workspace) == 1
    assert await token(workspace) == second


@pytest.mark.rule("E8")
async def test_two_processes_spend_a_rotating_refresh_token_once(workspace_on_any_store: Connected) -> None:
    workspace = workspace_on_any_store
    await workspace.connect("hubspot")
    other = App(workspace.engine.app.settings, clock=workspace.clock)
    try:
        await other.prepare()
        elsewhere = access_of(other, "hubspot")
        workspace.clock.advance(seconds=1800)
        workspace.far.hubspot.plan(Outcome.DELIVER_SLOWLY)
        here = workspace.access("hubspot")
        opened = await asyncio.gather(
            *(access.open(LOCAL_WORKSPACE) for access in (here, elsewhere, here, elsewhere))
        )
    finally:
        await other.close()

    assert len({access.secrets[ACCESS] for access in opened}) == 1
    assert refreshed(workspace) == 1
    assert await workspace.state("hubspot") == "connected"


async def test_a_dead_processs_turn_ends_by_itself(workspace: Connected) -> None:
    await workspace.connect("hubspot")
    workspace.clock.advance(seconds=1800)
    turns = workspace.access("hubspot")._turns
    held: Any = turns(LOCAL_WORKSPACE, "hubspot")
    await held.__aenter__()  # and whoever took it is never heard of again
    workspace.clock.advance(seconds=TURN_MS / 1000)

    await token(workspace)

    assert refreshed(workspace) == 1


async def test_a_renewal_goes_on_when_its_caller_leaves(workspace: Connected) -> None:
    await workspace.connect("hubspot")
    workspace.clock.advance(seconds=1800)
    workspace.far.hubspot.plan(Outcome.DELIVER_SLOWLY)
    access = workspace.access("hubspot")
    caller = asyncio.create_task(access.open(LOCAL_WORKSPACE))
    await workspace.far.hubspot.until("token_refreshed")
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    await access.finish()

    assert workspace.far.hubspot.valid(await token(workspace))
    assert refreshed(workspace) == 1


@pytest.mark.rule("E8")
async def test_a_revoked_grant_marks_the_connection_expired_and_says_connect_again(
    workspace_on_any_store: Connected,
) -> None:
    workspace = workspace_on_any_store
    await workspace.connect("hubspot")
    workspace.clock.advance(seconds=1800)
    workspace.far.hubspot.revoke_all()

    with pytest.raises(NotSent) as refused:
        await token(workspace)

    assert refused.value.reason is Reason.MISSING_CONNECTOR
    assert refused.value.curable
    assert "again" in refused.value.detail
    assert await workspace.state("hubspot") == "expired"
    readiness = await workspace.access("hubspot").readiness(LOCAL_WORKSPACE)
    assert (readiness.ready, readiness.blocker) == (False, "missing_connector")

    await workspace.connect("hubspot")
    assert workspace.far.hubspot.valid(await token(workspace))


async def test_a_token_that_ends_early_is_renewed_once_and_the_call_made_again(workspace: Connected) -> None:
    await workspace.connect("hubspot")
    workspace.far.hubspot.expire_access()

    answer = await workspace.access("hubspot").call(
        LOCAL_WORKSPACE, "GET", workspace.far.hubspot.url + CONTACTS, timeout_seconds=5
    )

    assert answer.status == 404
    assert refreshed(workspace) == 1


async def test_a_provider_that_refuses_a_fresh_token_has_ended_the_access(workspace: Connected) -> None:
    await workspace.connect("ga4", propertyId="1234")
    workspace.far.ga4.plan(Outcome.REFUSE_401, Outcome.REFUSE_401)

    with pytest.raises(NotSent):
        url = f"{workspace.far.ga4.url}/v1beta/accountSummaries"
        await workspace.access("ga4").call(LOCAL_WORKSPACE, "GET", url, timeout_seconds=5)

    assert await workspace.state("ga4") == "expired"


@pytest.mark.parametrize("outcome", [Outcome.ERROR_BEFORE, Outcome.REFUSE_429, Outcome.RESET_BEFORE])
async def test_a_token_endpoint_out_of_order_ends_nothing(workspace: Connected, outcome: Outcome) -> None:
    await workspace.connect("hubspot")
    workspace.clock.advance(seconds=1800)
    workspace.far.hubspot.plan(outcome)

    with pytest.raises(NotSent) as refused:
        await token(workspace)

    assert (refused.value.reason, refused.value.curable) == (Reason.CONNECTOR_FAILED, True)
    assert await workspace.state("hubspot") == "connected"
    assert await token(workspace)


async def test_a_token_that_still_counts_is_used_when_it_cannot_be_renewed_yet(workspace: Connected) -> None:
    await workspace.connect("hubspot")
    first = await token(workspace)
    workspace.clock.advance(seconds=1800 - 60)
    workspace.far.hubspot.plan(Outcome.ERROR_BEFORE)
    assert await token(workspace) == first
    assert await token(workspace) != first


async def begin_renewal(workspace: Connected) -> asyncio.Task[str]:
    """Ask for the token of a connection that has to be renewed. The provider has answered, slowly."""
    await workspace.connect("hubspot")
    workspace.clock.advance(seconds=1800)
    workspace.far.hubspot.plan(Outcome.DELIVER_SLOWLY)
    asking = asyncio.create_task(token(workspace))
    await workspace.far.hubspot.until("token_refreshed")
    return asking


async def test_connecting_again_during_a_renewal_wins(workspace: Connected) -> None:
    caller = await begin_renewal(workspace)
    await workspace.connect("hubspot")

    assert workspace.far.hubspot.valid(await caller)
    assert await workspace.state("hubspot") == "connected"


async def test_without_a_refresh_token_the_access_ends_with_its_token(workspace: Connected) -> None:
    connection = await workspace.connect("ga4")
    held = await workspace.connections.access(LOCAL_WORKSPACE, "ga4")
    assert held is not None
    only = OpenedSecrets({ACCESS: held.secrets[ACCESS]})
    assert await workspace.connections.renew(connection, only, connection.expires_ms)
    assert await token(workspace, "ga4")
    workspace.clock.advance(hours=1)

    with pytest.raises(NotSent):
        await token(workspace, "ga4")
    assert await workspace.state("ga4") == "expired"


async def test_a_disconnect_during_a_renewal_stays_disconnected(workspace: Connected) -> None:
    caller = await begin_renewal(workspace)
    await workspace.connections.disconnect(LOCAL_WORKSPACE, "hubspot", by="Ada")

    with pytest.raises(NotSent):
        await caller
    assert await workspace.state("hubspot") == "revoked"
    assert await workspace.connections.access(LOCAL_WORKSPACE, "hubspot") is None


async def test_tokens_show_nothing_of_themselves(workspace: Connected) -> None:
    await workspace.connect("hubspot")
    held = await workspace.access("hubspot").open(LOCAL_WORKSPACE)
    shown = repr((held, workspace.access("hubspot").provider))
    assert not [secret for secret in workspace.far.secrets if secret in shown]
    assert {ACCESS, REFRESH} == set(held.secrets)
