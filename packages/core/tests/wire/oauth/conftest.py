"""A server with its person, over each kind of store or over the embedded one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.review.kit import Server
from tests.support.sqlite_files import new_sqlite


@pytest.fixture
def database_url(own_database_url: str) -> str:
    """Everything here happens in the local workspace."""
    return own_database_url


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    made = Server(new_sqlite(tmp_path / "assent.db"), tmp_path)
    yield made
    await made.close()


@pytest.fixture
async def server_on_any_store(database_url: str, tmp_path: Path) -> AsyncIterator[Server]:
    made = Server(database_url, tmp_path)
    yield made
    await made.close()
