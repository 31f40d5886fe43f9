"""Engines with hosted providers, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.providers.kit import Providers, serving
from tests.sqlite_files import new_sqlite

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
