"""The kits for authors keep what they promise: the emulator, its connector, the contract check, the test operator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.support.catalog import ALL_TOOLS
from tests.support.connectors.kit import engine_with
from tests.support.connectors.mail_server import Inbox, mail_server
from tests.support.connectors.site import Site
from tests.support.surfaces import ManualClock, Surface

from assent.engine.connections.registry import ManualConnector
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.gate import gate
from assent.gate.gate import ApprovedAction
from assent.gate.preflight import Readiness
from assent.gate.records import Effect
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Context, Delivered, Delivery, OutcomeUnknown
from assent.tools.catalog import Catalog
from assent_conform.testing.connector import DELIVERIES, EmulatedConnector, Emulator
from assent_conform.testing.connector_contract import ContractBroken, check_connector, claim_action
from assent_conform.testing.ledger import DoneEffect, Ledger, LedgerCall
from assent_conform.testing.operator import TOOL, Wanted, stage
from assent_conform.testing.provider_server import Outcome
from assent_conform.testing.standalone import provider_process
from assent_launch.channels.email.smtp import SmtpConnector
from assent_launch.site import feed as site_feed

POST = Effect(channel="linkedin", verb="post", connector="emulated", body="We shipped it.")


@pytest.fixture
async def emulator(tmp_path: Path) -> AsyncIterator[Emulator]:
    yield Emulator(Ledger(tmp_path / "ledger.jsonl"))


async def effects_of(ledger: Ledger) -> int:
    return len(ledger.effects())


# ── the contract check ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("delivery", DELIVERIES, ids=lambda delivery: delivery.kind)
async def test_an_emulated_connector_keeps_the_contract(emulator: Emulator, delivery: Delivery) -> None:
    async with emulator.serving() as url:
        connector = EmulatedConnector(url, delivery)
        await check_connector(connector, effect=POST, effects=partial(effects_of, emulator.ledger))
    assert len(emulator.ledger.effects()) == 1


async def test_the_built_in_connectors_keep_the_contract(site: Site) -> None:
    connectors = site.engine.services.connectors
    await check_connector(connectors["manual"], effect=POST)
    await check_connector(connectors["smtp"], effect=POST)
    await check_connector(connectors["site"], effect=POST)
    inbox = Inbox()
    letter = msgspec.structs.replace(POST, recipients=("grace@example.org",), subject="Hi")
    async with mail_server(inbox) as port:
        smtp = SmtpConnector(f"smtp://127.0.0.1:{port}", "ann@example.org", ManualClock())
        await check_connector(smtp, effect=letter, effects=_counted(inbox))
    assert len(inbox.taken) == 1
    # A page of a workspace that does not exist is shown to no one.
    read = partial(site_feed.newest_posts, claim_action(POST, number=2).workspace_id, 10)
    with pytest.raises(Refusal, match=Reason.WORKSPACE_NOT_FOUND):
        await site.engine.app.store.read(read)


def _counted(inbox: Inbox) -> Any:
    async def count() -> int:
        return len(inbox.taken)

    return count


class Careless:
    """Takes orders from anybody, forgets what it did, and declares that it does not."""

    id = "careless"
    delivery = Delivery("natural_key")

    def __init__(self) -> None:
        self.done = 0

    async def readiness(self, workspace_id: str) -> Readiness:
        return Readiness(ready=False)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        assert ctx.action
        self.done += 1
        return Delivered(str(self.done))

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        return None


class Forgetful(Careless):
    async def readiness(self, workspace_id: str) -> Readiness:
        return Readiness(ready=True)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        if type(ctx) is not Context:
            raise TypeError
        return await super().perform(ctx, effect)


@pytest.mark.parametrize(("kind", "problems"), [(Careless, 3), (Forgetful, 2)])
async def test_a_connector_that_breaks_the_contract_hears_everything(
    kind: type[Careless], problems: int
) -> None:
    connector = kind()

    async def done() -> int:
        return connector.done

    with pytest.raises(ContractBroken) as broken:
        await check_connector(connector, effect=POST, effects=done)
    assert len(broken.value.problems) == problems


async def test_no_connector_takes_orders_from_an_action_that_went_through_no_gate(emulator: Emulator) -> None:
    action = claim_action(POST)
    for connector in (EmulatedConnector("http://127.0.0.1:1", DELIVERIES[0]), ManualConnector()):
        for impostor in (action, SimpleNamespace(action=action)):
            with pytest.raises(TypeError):
                await connector.perform(impostor, action.effect)  # type: ignore[arg-type]
            with pytest.raises(TypeError):
                Context(impostor, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        ApprovedAction(object(), action)


async def test_no_connector_performs_another_effect_than_the_approved_one(emulator: Emulator) -> None:
    other = msgspec.structs.replace(POST, body="We shipped something else.")
    async with emulator.serving() as url:
        for connector in (EmulatedConnector(url, DELIVERIES[0]), ManualConnector()):
            ctx = Context(gate.open_gate(claim_action(POST)), 20)
            with pytest.raises(TypeError):
                await connector.perform(ctx, other)
    assert emulator.ledger.effects() == []


# ── the emulator ─────────────────────────────────────────────────────────────────────────────────


async def test_the_ledger_outlives_the_emulator(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    connector = EmulatedConnector("", DELIVERIES[0])
    approved = gate.open_gate(claim_action(POST))
    with (
        provider_process(Emulator, path, Outcome.RESET_AFTER) as connector.url,
        pytest.raises(OutcomeUnknown),
    ):
        await connector.perform(Context(approved, 20), POST)
    ledger = Ledger(path)
    assert [type(entry) for entry in ledger.entries()] == [LedgerCall, DoneEffect]
    with provider_process(Emulator, path) as connector.url:
        delivered = await connector.perform(Context(approved, 20), POST)
    (done,) = ledger.effects()
    assert (done.effect_id, done.reference) == (delivered.external_id, approved.action.provider_key)
    assert done.content == msgspec.to_builtins(POST)
    assert [call.outcome for call in ledger.calls()] == ["reset_after", "deliver"]


async def test_a_half_written_line_is_not_read_yet(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.append(DoneEffect("eff_1", "r", None, None, 1))
    whole = await asyncio.to_thread(ledger.path.read_bytes)
    await asyncio.to_thread(ledger.path.write_bytes, whole + whole[:-5])
    assert len(ledger.entries()) == 1
    await asyncio.to_thread(ledger.path.write_bytes, whole + whole)
    assert len(ledger.entries()) == 2


async def test_a_read_back_cannot_say_while_a_call_is_being_worked_on(emulator: Emulator) -> None:
    approved = gate.open_gate(claim_action(POST))
    async with emulator.serving() as url:
        connector = EmulatedConnector(url, Delivery("read_back"))
        assert await connector.look_up(Context(approved, 20), POST) is None
        emulator.plan(Outcome.TIMEOUT_DURING)
        performing = asyncio.ensure_future(connector.perform(Context(approved, 20), POST))
        async with asyncio.timeout(10):
            while not emulator.ledger.calls():  # noqa: ASYNC110 - another connection's doing
                await asyncio.sleep(0.001)
        with pytest.raises(OutcomeUnknown):
            await connector.look_up(Context(approved, 20), POST)
        performing.cancel()
        await asyncio.gather(performing, return_exceptions=True)
        await emulator.settled()
        found = await connector.look_up(Context(approved, 20), POST)
    assert found is not None and found.external_id == emulator.ledger.effects()[0].effect_id


# ── the test operator ────────────────────────────────────────────────────────────────────────────


async def test_the_test_operator_stages_over_every_transport(surface: Surface) -> None:
    surface.surfaces.edge.catalog = Catalog((*ALL_TOOLS, TOOL))
    await surface.sign_in()
    arguments = {
        "channel": "email",
        "verb": "email",
        "connector": "smtp",
        "subject": "Hi",
        "recipients": ["grace@example.org"],
        "severity": "high",
        "scheduleFor": "2026-12-01T09:00:00Z",
        "also": [{"channel": "site", "connector": "site"}],
        "idempotencyKey": "once",
    }
    first = (await surface.call("testing_stage", arguments)).payload
    assert [action["status"] for action in first["actions"]] == ["awaiting_approval"] * 2
    assert first["actions"][0]["preflight"]["severity"] == "high"
    assert (await surface.call("testing_stage", arguments)).payload == first


async def test_no_server_has_the_test_operator() -> None:
    assert TOOL not in ALL_TOOLS


async def test_a_schedule_without_a_zone_is_refused(database_url: str, tmp_path: Path) -> None:
    async with engine_with(database_url, tmp_path) as engine:
        with pytest.raises(Refusal) as refused:
            await stage(engine.services, LOCAL_PRINCIPAL, Wanted(schedule_for="2026-12-01T09:00:00"))
    assert refused.value.reason is Reason.VALIDATION_ERROR
