"""A server with its people and providers, over each kind of store or over the embedded one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.review.kit import House


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """Over the embedded store."""
    made = House(f"sqlite:///{tmp_path / 'assent.db'}", tmp_path)
    yield made
    await made.close()


@pytest.fixture
async def house_on_any_store(database_url: str, tmp_path: Path) -> AsyncIterator[House]:
    """Over each kind of store."""
    made = House(database_url, tmp_path)
    yield made
    await made.close()
