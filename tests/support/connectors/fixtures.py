"""The world of the truth table and a server with its feed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.connectors.harness import Harness
from tests.support.connectors.kit import LEASE_SECONDS, engine_with
from tests.support.connectors.site import Site
from tests.support.sqlite_files import new_sqlite

from assent.ports import Connector
from assent_conform.testing.connector import DELIVERIES, EmulatedConnector, Emulator
from assent_conform.testing.ledger import Ledger

SHORT_SECONDS = 0.4
LONG_SECONDS = 20.0


@pytest.fixture
async def harness(
    request: pytest.FixtureRequest, database_url: str, tmp_path: Path
) -> AsyncIterator[Harness]:
    # Short only where the wait is what is tested: a busy machine must not look like a slow provider.
    outcome: str = request.node.callspec.params.get("outcome", "")
    timeout = SHORT_SECONDS if outcome.startswith("timeout") else LONG_SECONDS
    emulator = Emulator(Ledger(tmp_path / "ledger.jsonl"))
    async with emulator.serving() as url:
        made: dict[str, EmulatedConnector] = {
            delivery.kind: EmulatedConnector(url, delivery, connector_id=delivery.kind)
            for delivery in DELIVERIES
        }
        connectors: dict[str, Connector] = {**made}
        async with engine_with(
            database_url,
            tmp_path,
            lambda clock: connectors,
            connector_timeout_seconds=timeout,
            execution_lease_seconds=LEASE_SECONDS,
        ) as engine:
            yield Harness(engine, emulator, made)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with engine_with(new_sqlite(tmp_path / "feed.db"), tmp_path) as engine:
        running = Site(engine)
        async with running.browser:
            yield running


@pytest.fixture
async def site_on_any_store(database_url: str, tmp_path: Path) -> AsyncIterator[Site]:
    async with engine_with(database_url, tmp_path) as engine:
        running = Site(engine)
        async with running.browser:
            yield running
