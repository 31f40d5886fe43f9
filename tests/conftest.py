"""What every test may use: the rule ledger, a throwaway PostgreSQL, and the surfaces."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# What a property says does not depend on how busy the machine is that looks at it.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")

pytest_plugins = ["tests.rules_manifest", "tests.postgres_server", "tests.surfaces"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
