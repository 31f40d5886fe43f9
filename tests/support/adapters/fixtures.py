"""A whole server in this process, over each transport and each store; and one in a process of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.actions.kit import Gate
from tests.support.adapters.server import Server, open_server
from tests.support.extensions.fixtures import gate_with
from tests.support.surfaces import signed_in


@pytest.fixture
async def surface(
    transport: str, database_url: str, tmp_path: Path, changed_settings: dict[str, Any]
) -> AsyncIterator[Gate]:
    async with signed_in(gate_with((), database_url, tmp_path, transport, **changed_settings)) as gate:
        yield gate


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with open_server(tmp_path_factory.mktemp("data")) as server:
        yield server


@pytest.fixture
def server(served: Server) -> Iterator[Server]:
    """The server of the module; no action waits after the test."""
    yield served
    for action_id in served.waiting():
        served.reject(action_id, "The test is over.")
