"""A wrapping server over each store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.wrap.kit import FrontClient, Wrapped


@pytest.fixture
def database_url(own_database_url: str) -> str:
    """A database of its own: these tests are about the local workspace."""
    return own_database_url


@pytest.fixture
async def wrapped(database_url: str, tmp_path: Path) -> AsyncIterator[Wrapped]:
    made = Wrapped(database_url, tmp_path)
    await made.app.prepare()
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
async def client(wrapped: Wrapped) -> AsyncIterator[FrontClient]:
    """A client of a trusted server."""
    made = await wrapped.open(trust=True)
    try:
        yield made
    finally:
        await made.close()
