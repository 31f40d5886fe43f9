"""A signed-in agent over every transport and store, with a folder of definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.surfaces import Surface
from tests.support.workflows.kit import WorkflowClient, three_steps


@pytest.fixture
def changed_settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    given: dict[str, Any] = getattr(request, "param", {})
    return given


@pytest.fixture
async def client(surface: Surface, tmp_path: Path) -> WorkflowClient:
    player = WorkflowClient(surface, tmp_path / "workflows")
    player.write(three_steps())
    await surface.sign_in()
    return player
