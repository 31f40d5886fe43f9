"""Engines with hosted providers, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.providers.kit import Providers, serving

SHORT_SECONDS = 0.5


@pytest.fixture
async def providers(database_url: str, tmp_path: Path) -> AsyncIterator[Providers]:
    async with serving(database_url, tmp_path) as running:
        yield running


@pytest.fixture
async def impatient(tmp_path: Path) -> AsyncIterator[Providers]:
    """Where a time-out is what is tested."""
    url = f"sqlite:///{tmp_path / 'assent.db'}"
    async with serving(url, tmp_path, connector_timeout_seconds=SHORT_SECONDS) as running:
        yield running
