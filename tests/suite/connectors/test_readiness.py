"""What stands before a connector: nothing reaches it while preparing, and none that cannot perform is called."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.suite.connectors.kit import engine_with
from tests.suite.connectors.world import World

from assent.gate.preflight import Readiness
from assent.kernel.refusals import Reason, Refusal, ToolCall
from assent.ports import Connector
from assent.testing.connector import DELIVERIES, EmulatedConnector, Emulator
from assent.testing.ledger import Ledger
from assent.testing.operator import Wanted

MAIL = Wanted(
    connector="smtp", channel="email", verb="email", subject="Dark mode", recipients=("grace@example.org",)
)


@pytest.mark.rule("E11")
async def test_staging_and_approving_call_no_provider(world: World) -> None:
    for delivery in DELIVERIES:
        await world.approved(delivery.kind)
    assert world.ledger.entries() == []


@pytest.mark.rule("E24")
async def test_an_unready_connector_blocks_an_approved_action(database_url: str, tmp_path: Path) -> None:
    emulator = Emulator(Ledger(tmp_path / "ledger"))
    blocked = Readiness(ready=False, blocker="missing_connector", fix_hint="Sign in to it.")
    async with emulator.serving() as url:
        connector = EmulatedConnector(url, DELIVERIES[0], readiness=blocked)
        connectors: dict[str, Connector] = {connector.id: connector}
        async with engine_with(database_url, tmp_path, lambda clock: connectors) as engine:
            action_id = await engine.approved(Wanted())
            reply = await engine.execute(action_id)
            assert isinstance(reply, Refusal)
            assert reply.recovery().reason is Reason.MISSING_CONNECTOR
            assert reply.recovery().user_message == "Sign in to it."
            action = await engine.action(action_id)
            assert (action.status, action.execution_state) == ("approved", "none")
            assert not action.preflight.connector_ready
            assert emulator.ledger.entries() == []

            connector.ready = Readiness(ready=True)
            await engine.execute(action_id)
            assert len(emulator.ledger.effects()) == 1


@pytest.mark.rule("E94")
async def test_mail_without_a_mail_server_is_a_missing_connector(database_url: str, tmp_path: Path) -> None:
    async with engine_with(database_url, tmp_path) as engine:
        action_id = await engine.approved(MAIL)
        reply = await engine.execute(action_id)
        assert isinstance(reply, Refusal)
        recovery = reply.recovery()
        assert recovery.reason is Reason.MISSING_CONNECTOR
        assert recovery.recovery_tool == ToolCall("chieflab_connect_provider", {"provider": "smtp"})
        assert "Resend" in recovery.user_message and "ASSENT_" not in recovery.user_message
        action = await engine.action(action_id)
        assert (action.status, action.execution_state, action.external_id) == ("approved", "none", None)


@pytest.mark.rule("E94")
async def test_a_manual_channel_is_never_published_by_the_server(database_url: str, tmp_path: Path) -> None:
    async with engine_with(database_url, tmp_path) as engine:
        action_id = await engine.approved(Wanted(connector="manual", channel="hn"))
        reply = await engine.execute(action_id)
        assert isinstance(reply, Refusal)
        action = await engine.action(action_id)
        assert (action.status, action.external_id, action.executed_ms) == ("approved", None, None)


@pytest.mark.rule("E98")
async def test_a_provider_that_is_not_live_is_never_executed(database_url: str, tmp_path: Path) -> None:
    async with engine_with(database_url, tmp_path) as engine:
        action_id = await engine.approved(Wanted(connector="ga4", channel="linkedin"))
        reply = await engine.execute(action_id)
        assert isinstance(reply, Refusal)
        assert reply.recovery().reason is Reason.PROVIDER_NOT_LIVE
        action = await engine.action(action_id)
        assert (action.status, action.execution_state, action.external_id) == ("approved", "none", None)
