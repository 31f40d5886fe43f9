"""A server over each kind of store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.review.kit import Server


@pytest.fixture
async def server(database_url: str, tmp_path: Path) -> AsyncIterator[Server]:
    made = Server(database_url, tmp_path)
    try:
        yield made
    finally:
        await made.close()
