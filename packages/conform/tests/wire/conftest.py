"""One server with two workspaces for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.conformance.site import Site
from tests.support.surfaces import ManualClock, Surface, settings_for

from assent.app import App


@pytest.fixture
async def site(database_url: str, tmp_path: Path, changed_settings: dict[str, Any]) -> AsyncIterator[Site]:
    app = App(settings_for(database_url, tmp_path, **changed_settings), clock=ManualClock())
    async with Surface(app) as surface:
        keys = [(await surface.new_workspace(name)).api_key for name in ("acme", "other")]
        yield Site(surface, (keys[0], keys[1]))
