"""A far side on loopback for every test here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.net.stub_server import StubServer, stub_server


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with stub_server() as running:
        yield running
