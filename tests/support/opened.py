"""Fixtures of what a test opens over a store: the embedded one, each kind of one, or one with a database of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.support.sqlite_files import new_sqlite

Open = Callable[[str, Path], AbstractAsyncContextManager[Any]]


def on_embedded_store(opening: Open) -> Any:
    """For what no store has a part in."""

    @pytest.fixture
    async def opened(tmp_path: Path) -> AsyncIterator[Any]:
        async with opening(new_sqlite(tmp_path / "assent.db"), tmp_path) as made:
            yield made

    return opened


def on_any_store(opening: Open) -> Any:
    @pytest.fixture
    async def opened(database_url: str, tmp_path: Path) -> AsyncIterator[Any]:
        async with opening(database_url, tmp_path) as made:
            yield made

    return opened


def on_own_database(opening: Open) -> Any:
    @pytest.fixture
    async def opened(own_database_url: str, tmp_path: Path) -> AsyncIterator[Any]:
        async with opening(own_database_url, tmp_path) as made:
            yield made

    return opened
