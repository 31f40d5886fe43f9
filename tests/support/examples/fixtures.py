"""A server with one of the examples, as `assent serve --operators` loads it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from tests.support.actions.kit import Gate
from tests.support.extensions.fixtures import gate_with

EXAMPLES = Path(__file__).parents[3] / "examples"

OpenExample = Callable[[str], Awaitable[Gate]]


@pytest.fixture
async def open_example(transport: str, database_url: str, tmp_path: Path) -> AsyncIterator[OpenExample]:
    opened: list[Gate] = []

    async def start(file: str) -> Gate:
        gate = gate_with((str(EXAMPLES / file),), database_url, tmp_path, transport)
        opened.append(gate)
        assert gate.app.extensions.failures == ()
        await gate.sign_in()
        return gate

    try:
        yield start
    finally:
        for gate in opened:
            await gate.close()
