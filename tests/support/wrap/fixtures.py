"""A wrapping server over each store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.wrap.kit import FrontClient, Wrapped

from assent_wrap import gateway, upstreams


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


@pytest.fixture
def no_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are asked for each time, and a server that failed is asked again at once."""
    monkeypatch.setattr(upstreams, "LIST_AGE_SECONDS", -1.0)
    monkeypatch.setattr(upstreams, "FIRST_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(gateway, "PINS_SECONDS", -1.0)
