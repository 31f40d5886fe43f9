"""An engine with emulated Google and HubSpot, over the embedded store or over each kind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.oauth.kit import Connected, connected


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[Connected]:
    async with connected(f"sqlite:///{tmp_path / 'assent.db'}", tmp_path) as made:
        yield made


@pytest.fixture
async def world_on_any_store(database_url: str, tmp_path: Path) -> AsyncIterator[Connected]:
    async with connected(database_url, tmp_path) as made:
        yield made
