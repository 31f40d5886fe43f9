"""What every test may use: the rule ledger, a throwaway PostgreSQL, and the surfaces."""

from __future__ import annotations

import pytest

pytest_plugins = ["tests.rules_manifest", "tests.postgres_server", "tests.surfaces"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
