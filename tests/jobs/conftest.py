"""Every test of jobs runs over both stores."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a fresh, migrated store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.db"
    address: str = request.getfixturevalue("postgres_url")
    return address
