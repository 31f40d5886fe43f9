"""Every test of the stores runs over both, through one fixture."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assent.ports import Store
from assent.stores import open_store


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a fresh store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    address: str = request.getfixturevalue("postgres_url")
    return address


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    """A fresh store, closed at the end."""
    opened = open_store(store_url)
    yield opened
    await opened.close()
