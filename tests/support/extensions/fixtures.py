"""A server with a stranger's operator, over each transport and each store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.support.actions.kit import Gate
from tests.support.surfaces import ManualClock, settings_for, signed_in

from assent.app import App

BILLING = Path(__file__).with_name("billing.py")


def gate_with(
    operators: tuple[str, ...], database_url: str, data_dir: Path, transport: str, **changes: Any
) -> Gate:
    app = App(
        settings_for(database_url, data_dir, operators=operators, **changes),
        clock=ManualClock(),
        one_client=transport == "stdio",
    )
    gate = Gate(app, transport)
    gate.providers = {}
    return gate


@pytest.fixture
async def surface(
    transport: str, database_url: str, tmp_path: Path, changed_settings: dict[str, Any]
) -> AsyncIterator[Gate]:
    async with signed_in(
        gate_with((str(BILLING),), database_url, tmp_path, transport, **changed_settings)
    ) as gate:
        yield gate


@pytest.fixture
def billing(surface: Gate) -> Any:
    """The module of the operator: its ledger, its faults, and the end of functions that hang."""
    (operator,) = surface.app.extensions.operators
    module = ModuleType("billing")
    module.__dict__.update(operator.effects[0].function.__globals__)
    module.LEDGER.clear()
    module.FAULTS.clear()
    module.RELEASE.clear()
    yield module
    module.RELEASE.set()
