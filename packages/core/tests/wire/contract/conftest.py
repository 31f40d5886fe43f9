"""What the contract tests share: a server over HTTP alone, where the other transport has no counterpart."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import ManualClock, Surface, settings_for

from assent.app import App


@pytest.fixture
async def web(tmp_path: Path, changed_settings: dict[str, Any]) -> AsyncIterator[Surface]:
    """A server over HTTP and the embedded store: for what is about HTTP itself."""
    settings = settings_for(new_sqlite(tmp_path / "assent.db"), tmp_path, **changed_settings)
    async with Surface(App(settings, clock=ManualClock())) as client:
        yield client
