"""A server over each kind of store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.review.kit import House


@pytest.fixture
async def house(database_url: str, tmp_path: Path) -> AsyncIterator[House]:
    made = House(database_url, tmp_path)
    try:
        yield made
    finally:
        await made.close()
