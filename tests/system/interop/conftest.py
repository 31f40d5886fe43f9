"""One real server for all of these tests, and a workspace with its key."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.interop.clients import node
from tests.support.interop.running import Served, Workspace, create_workspace, serving

NO_NODE = "Node 22 and the MCP tools for it are not installed (make test brings them where npm is there)"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds; left out of `make check`")
    config.addinivalue_line(
        "markers", "interop: a real client or the conformance suite against a real server"
    )


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    # The clients together would pass a person's rate limit, which other tests are about.
    with serving(tmp_path_factory.mktemp("served"), ASSENT_RATE_LIMIT_PER_MINUTE="100000") as server:
        yield server


@pytest.fixture(scope="session")
def workspace(served: Served) -> Workspace:
    return create_workspace(served.data_dir, "Interop")


@pytest.fixture(scope="session")
def node_program() -> str:
    program = node()
    if program is None:
        pytest.skip(NO_NODE)
    return program
