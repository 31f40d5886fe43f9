"""The surfaces of the other contract tests, with providers behind them and a way to stage."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.actions.kit import STAGE_TOOL, Gate
from tests.support.actions.provider import Provider, providers
from tests.support.catalog import ALL_TOOLS
from tests.support.surfaces import ManualClock, settings_for, signed_in

from assent.app import App
from assent.tools.catalog import Catalog
from assent_launch.testing import any_effects


def gate_over(
    database_url: str,
    data_dir: Path,
    transport: str,
    world: dict[str, Provider],
    *,
    kind: type[Gate] = Gate,
    **settings: Any,
) -> Gate:
    """A server with these providers, and its client."""
    app = App(
        settings_for(database_url, data_dir, **settings),
        clock=ManualClock(),
        connectors=world,
        effects=any_effects(),
    )
    gate = kind(app, transport)
    gate.surfaces.edge.catalog = Catalog((*ALL_TOOLS, STAGE_TOOL))
    gate.providers = world
    return gate


@pytest.fixture
def changed_settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What a test says by indirect parametrisation."""
    given: dict[str, Any] = getattr(request, "param", {})
    return given


@pytest.fixture
async def surface(
    transport: str, database_url: str, tmp_path: Path, changed_settings: dict[str, Any]
) -> AsyncIterator[Gate]:
    """A signed-in client of a running server, over each transport and each store."""
    async with signed_in(
        gate_over(database_url, tmp_path, transport, providers(), **changed_settings)
    ) as gate:
        yield gate
