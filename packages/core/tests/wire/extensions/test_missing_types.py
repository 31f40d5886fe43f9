"""An action whose extension was removed: shown, rejected and withdrawn, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from packages.core.tests.wire.extensions.test_refunds import RING, approve, stage
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, GET, PENDING, REJECT, WITHDRAW, Gate
from tests.support.answers import calls_of, text_of
from tests.support.extensions.fixtures import BILLING, gate_with

from assent.gate.views import Severity
from assent.ports import Transaction
from assent.sql.loader import statements

BY_HAND = "chieflab_use_manual_fallback"
RECORD = "chieflab_record_manual_publish"

Reopen = Callable[[], Awaitable[Gate]]


@pytest.fixture
async def without(
    surface: Gate, transport: str, database_url: str, tmp_path: Path, changed_settings: dict[str, Any]
) -> AsyncIterator[Reopen]:
    """Starts the same server again without its operators."""

    opened: list[Gate] = []

    async def reopen() -> Gate:
        gate = gate_with((), database_url, tmp_path, transport, **changed_settings)
        gate.key, gate.workspace_id = surface.key, surface.workspace_id
        opened.append(gate)
        return gate

    yield reopen
    for gate in opened:
        await gate.close()


async def test_an_action_without_its_type_is_shown_and_refused_until_it_is_rejected(
    surface: Gate, without: Reopen, billing: Any
) -> None:
    action_id = await stage(surface)
    bare = await without()
    pending = await bare.done(PENDING)
    assert "Amount: 12.50 EUR" in text_of(pending)
    assert "acme-billing_refund" in text_of(pending) and "is not installed" in text_of(pending)
    assert [call["name"] for call in calls_of(pending) if call["name"] != GET] == [REJECT]
    for tool, arguments in (
        (APPROVE, {}),
        (EDIT, {"arguments": {"amount": "1 EUR"}}),
        (BY_HAND, {}),
    ):
        refused = await bare.denied(tool, actionId=action_id, **arguments)
        assert refused["reason"] == "provider_not_live", tool
        assert "acme-billing_refund" in refused["userMessage"]
    assert (await bare.record(action_id))["revision"] == 1
    rejected = await bare.done(REJECT, actionId=action_id, reason="It is gone.")
    assert rejected["status"] == "rejected" and calls_of(rejected) == []


async def test_an_approved_action_without_its_type_is_neither_executed_nor_recorded_as_done(
    surface: Gate, without: Reopen, billing: Any
) -> None:
    action_id = await stage(surface)
    await approve(surface, action_id)
    bare = await without()
    for tool, arguments in ((EXECUTE, {}), (RECORD, {"url": "https://billing.example/1"})):
        refused = await bare.denied(tool, actionId=action_id, **arguments)
        assert refused["reason"] == "provider_not_live", tool
    assert await bare.where(action_id) == "approved" and billing.LEDGER == []
    shown = await bare.done(GET, actionId=action_id)
    assert [call["name"] for call in calls_of(shown)] == [WITHDRAW]
    assert (await bare.done(WITHDRAW, actionId=action_id, reason="It is gone."))["status"] == (
        "awaiting_approval"
    )


async def test_the_action_can_be_executed_once_its_extension_is_back(
    surface: Gate, without: Reopen, billing: Any
) -> None:
    action_id = await stage(surface, RING, times=2)
    bare = await without()
    assert (await bare.denied(APPROVE, actionId=action_id))["reason"] == "provider_not_live"
    await surface.done(APPROVE, actionId=action_id, send=True)
    assert billing.LEDGER == [{"rung": 2}]


async def test_a_server_starts_over_an_older_action_that_the_code_of_an_extension_cannot_describe(
    surface: Gate, billing: Any, transport: str, database_url: str, tmp_path: Path
) -> None:
    action_id = await stage(surface, RING, times=2)
    stored = await surface.stored(action_id)
    older = msgspec.structs.replace(stored.effect, arguments={}, body="Ring it.")
    await surface.overwrite(action_id, effect=older)

    def forget_view() -> Transaction[None]:
        yield statements.store_view(workspace_id=surface.workspace_id, action_id=action_id, view="")

    await surface.app.store.write(forget_view)
    again = gate_with((str(BILLING),), database_url, tmp_path, transport)
    again.key, again.workspace_id = surface.key, surface.workspace_id
    try:
        assert (await again.done(GET, actionId=action_id))["content"]["body"] == "Ring it."
        assert (await again.stored(action_id)).view.risk is Severity.HIGH
    finally:
        await again.close()
