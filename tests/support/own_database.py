"""A database to itself for each test of a folder, because its tests are about the local workspace."""

from __future__ import annotations

import pytest


@pytest.fixture
def database_url(own_database_url: str) -> str:
    return own_database_url
