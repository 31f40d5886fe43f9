"""Engines with hosted providers, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from tests.support.channels.hosted import Hosted
from tests.support.channels.kit import serving
from tests.support.opened import on_any_store, on_embedded_store
from tests.support.surfaces import ManualClock, settings_for, signed_in

from assent.app import App
from assent_conform.emulators.email import Resend
from assent_conform.emulators.zernio import Zernio
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import all_serving

SHORT_SECONDS = 0.5


providers = on_any_store(serving)
impatient = on_embedded_store(partial(serving, connector_timeout_seconds=SHORT_SECONDS))
"""Where a time-out is what is tested."""


@pytest.fixture
async def hosted(transport: str, database_url: str, tmp_path: Path) -> AsyncIterator[Hosted]:
    clock = ManualClock()
    zernio = Zernio(Ledger(tmp_path / "zernio.jsonl"), now_ms=clock.now_ms)
    resend = Resend(Ledger(tmp_path / "resend.jsonl"), now_ms=clock.now_ms)
    async with all_serving((zernio, resend)) as urls:
        settings = settings_for(database_url, tmp_path, zernio_url=urls["zernio"], resend_url=urls["resend"])
        async with signed_in(Hosted(App(settings, clock=clock), transport)) as client:
            client.zernio, client.resend = zernio, resend
            yield client
