"""What every test may use: the rule ledger, a throwaway PostgreSQL, a server on loopback, and the surfaces."""

from __future__ import annotations

import gc
from collections.abc import Generator
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings
from tests.support.temporary import use_memory_disk

use_memory_disk()

# What a property says does not depend on how busy the machine is that looks at it.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")

pytest_plugins = [
    "tests.support.rules_manifest",
    "tests.support.durations",
    "tests.support.reliability",
    "tests.support.chromium",
    "tests.support.net.stub_server",
    "tests.support.postgres_server",
    "tests.support.surfaces",
    "tests.support.wheel",
]
if find_spec("assent_launch") is not None:
    pytest_plugins.append("tests.support.drawing")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt what collection makes from garbage collection: modules and ten thousand items live as long as the run,
    and each full collection would go through all of them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """For fixtures of any scope; a test without shared asynchronous fixtures has an event loop to itself."""
    return "asyncio"
