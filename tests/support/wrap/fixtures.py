"""A wrapping server over each store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.wrap.kit import FrontClient, Wrapped


@pytest.fixture
async def wrapped(own_database_url: str, tmp_path: Path) -> AsyncIterator[Wrapped]:
    made = Wrapped(own_database_url, tmp_path)
    await made.app.prepare()
    async with made:
        yield made


@pytest.fixture
async def client(wrapped: Wrapped) -> AsyncIterator[FrontClient]:
    """A client of a trusted server."""
    made = await wrapped.open(trust=True)
    try:
        yield made
    finally:
        await made.close()
