"""Engines with hosted providers, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.channels.hosted import Hosted
from tests.support.channels.kit import Providers, serving
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import ManualClock, settings_for

from assent.app import App
from assent.processes.serve import Surfaces
from assent_conform.emulators.email import Resend
from assent_conform.emulators.zernio import Zernio
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import all_serving

SHORT_SECONDS = 0.5


@pytest.fixture
def database_url(own_database_url: str) -> str:
    """Everything here happens in the local workspace."""
    return own_database_url


@pytest.fixture
async def providers(database_url: str, tmp_path: Path) -> AsyncIterator[Providers]:
    async with serving(database_url, tmp_path) as running:
        yield running


@pytest.fixture
async def impatient(tmp_path: Path) -> AsyncIterator[Providers]:
    """Where a time-out is what is tested."""
    url = new_sqlite(tmp_path / "assent.db")
    async with serving(url, tmp_path, connector_timeout_seconds=SHORT_SECONDS) as running:
        yield running


@pytest.fixture
async def hosted(transport: str, database_url: str, tmp_path: Path) -> AsyncIterator[Hosted]:
    clock = ManualClock()
    zernio = Zernio(Ledger(tmp_path / "zernio.jsonl"), now_ms=clock.now_ms)
    resend = Resend(Ledger(tmp_path / "resend.jsonl"), now_ms=clock.now_ms)
    async with all_serving((zernio, resend)) as urls:
        settings = settings_for(database_url, tmp_path, zernio_url=urls["zernio"], resend_url=urls["resend"])
        app = App(settings, clock=clock)
        client = Hosted(app, Surfaces(app), clock, transport)
        client.zernio, client.resend = zernio, resend
        client.workspace_id = (await client.sign_in()).workspace_id
        try:
            yield client
        finally:
            await client.close()
