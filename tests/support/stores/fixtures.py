"""Every test of the stores runs over both, through one fixture."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.sqlite_files import new_sqlite

from assent.ports import Store
from assent.stores import open_store

STORES = ("sqlite", "postgres")
ONE_CLIENT = "sqlite for one client"
"""Writes on the event loop while it is alone."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that use more of a store than its address meet all kinds."""
    if "store_kind" in metafunc.fixturenames:
        kinds = [*STORES, ONE_CLIENT] if "store" in metafunc.fixturenames else STORES
        metafunc.parametrize("store_kind", kinds)


@pytest.fixture
def store_url(store_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a fresh store."""
    if store_kind != "postgres":
        return new_sqlite(tmp_path / "store.db")
    address: str = request.getfixturevalue("postgres_url")
    return address


@pytest.fixture
async def store(store_kind: str, store_url: str) -> AsyncIterator[Store]:
    """A fresh store, closed at the end."""
    opened = open_store(store_url, is_alone=lambda: store_kind == ONE_CLIENT)
    yield opened
    await opened.close()
