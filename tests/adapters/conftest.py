"""A whole server in this process, over each transport and each store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.actions.kit import Gate
from tests.extensions.conftest import gate_with


@pytest.fixture
async def surface(
    transport: str, database_url: str, tmp_path: Path, changed_settings: dict[str, Any]
) -> AsyncIterator[Gate]:
    gate = gate_with((), database_url, tmp_path, transport, **changed_settings)
    try:
        gate.workspace_id = (await gate.sign_in()).workspace_id
        yield gate
    finally:
        await gate.close()
