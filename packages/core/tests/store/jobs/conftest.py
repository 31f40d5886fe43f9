"""Every test of jobs runs over both stores."""

from __future__ import annotations

import pytest


@pytest.fixture
def url(own_database_url: str) -> str:
    """The address of a fresh, migrated store."""
    return own_database_url
